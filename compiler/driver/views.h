// Kernels that only move elements, and need not run: what they read lies where their result is
// read.
#ifndef HONE_COMPILER_DRIVER_VIEWS_H_
#define HONE_COMPILER_DRIVER_VIEWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/driver/kernel_graph.h"
#include "compiler/passes/memory_plan.h"
#include "compiler/passes/pieces.h"

namespace hone::driver {

// A call whose result is pieces of its operands, none of which is a constant.
struct Move {
  size_t call = 0;  // of the specialisation
  std::vector<passes::Piece> pieces;
};

// Gives values places in others (Value::within), such that as many moves as can be have nothing to
// do: a part of a value lies in it, and what is joined is written where the whole is, unless what
// is alive at once would then be more than where all joins copy by over a quarter and over a MiB.
// Returns for each move whether its call can go. Offsets are multiples of HONE_BUFFER_ALIGNMENT.
std::vector<bool> PlaceViews(const std::vector<Move>& moves, Specialisation* graph);

uint64_t SizeBytesOf(const Value& value);  // pad lanes included

// What the memory plan asks of values.
std::vector<passes::PlannedValue> PlannedValuesOf(const std::vector<Value>& values);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_VIEWS_H_
