// Kernels that only move elements: which bytes of their operands their results are.
#ifndef HONE_COMPILER_PASSES_PIECES_H_
#define HONE_COMPILER_PASSES_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/workload.h"

namespace hone::passes {

// Bytes of an operand of a call.
struct Piece {
  size_t operand = 0;
  uint64_t begin = 0;
  uint64_t size = 0;
  bool operator==(const Piece&) const = default;
};

// The pieces that the result of a fused function is, one after the other in memory, pad lanes
// included; nullopt where it is something else. None of the operands is a constant.
std::optional<std::vector<Piece>> PiecesOf(const ir::ExprNode& function,
                                           const ir::LayoutSignature& signature);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PIECES_H_
