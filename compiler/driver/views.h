// Kernels that only move elements, and need not run: what they read lies where their result is
// read.
#ifndef HONE_COMPILER_DRIVER_VIEWS_H_
#define HONE_COMPILER_DRIVER_VIEWS_H_

#include <optional>
#include <vector>

#include "compiler/driver/kernel_graph.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/workload.h"

namespace hone::driver {

// Bytes of an operand of a call.
struct Piece {
  size_t operand = 0;
  uint64_t begin = 0;
  uint64_t size = 0;
};

// The pieces that the result of a fused function is, one after the other in memory; nullopt where
// it is something else. None of the operands is a constant.
std::optional<std::vector<Piece>> PiecesOf(const ir::ExprNode& function,
                                           const ir::LayoutSignature& signature);

// A call whose result is pieces of its operands.
struct Move {
  size_t call = 0;  // of the specialisation
  std::vector<Piece> pieces;
};

// Gives values places in others (Value::within), such that as many moves as can be have nothing to
// do: a part of a value lies in it, and what is joined is written where the whole is. Returns for
// each move whether its call can go. Offsets are multiples of HONE_BUFFER_ALIGNMENT.
std::vector<bool> PlaceViews(const std::vector<Move>& moves, Specialisation* graph);

// Where a value lies: in itself at 0, or in the value that no other holds.
struct Place {
  int value = 0;
  uint64_t offset_bytes = 0;
};
Place PlaceOf(const std::vector<Value>& values, int value);

uint64_t SizeBytesOf(const Value& value);  // pad lanes included

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_VIEWS_H_
