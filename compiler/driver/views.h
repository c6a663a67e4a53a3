// Finds kernels that only move elements and need not run, because their operands can lie where
// their result is read.
#ifndef HONE_COMPILER_DRIVER_VIEWS_H_
#define HONE_COMPILER_DRIVER_VIEWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/driver/kernel_graph.h"
#include "compiler/passes/memory_plan.h"
#include "compiler/passes/pieces.h"

namespace hone::driver {

// A call whose result consists of pieces of its operands, none of which is a constant.
struct Move {
  size_t call = 0;  // of the specialisation
  std::vector<passes::Piece> pieces;
};

// Places values inside other values (Value::within), so that as many moves as possible have nothing
// to do: a slice lies in what it is taken from, and the parts of a concatenation are written where
// the whole lies. A concatenation is copied all the same if placing its parts would make the peak
// of live memory larger, by more than a quarter and more than a MiB, than if all concatenations
// were copied. Returns for each move whether its call can be dropped. Offsets are multiples of
// HONE_BUFFER_ALIGNMENT.
std::vector<bool> PlaceViews(const std::vector<Move>& moves, Specialisation* graph);

uint64_t SizeBytesOf(const Value& value);  // pad lanes included

// The values in the form that the memory plan takes.
std::vector<passes::PlannedValue> PlannedValuesOf(const std::vector<Value>& values);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_VIEWS_H_
