// Tells for kernels that only move elements which bytes of their operands make up their results.
#ifndef HONE_COMPILER_PASSES_PIECES_H_
#define HONE_COMPILER_PASSES_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/workload.h"

namespace hone::passes {

// A range of bytes of an operand of a call.
struct Piece {
  size_t operand = 0;
  uint64_t begin = 0;
  uint64_t size = 0;
  bool operator==(const Piece&) const = default;
};

// The pieces that make up the result of a fused function, in the order of memory, pad lanes
// included; nullopt if the result is not made of such pieces. No operand may be a constant.
std::optional<std::vector<Piece>> PiecesOf(const ir::ExprNode& function,
                                           const ir::LayoutSignature& signature);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PIECES_H_
