// Repeats: calls of a named function that are made `trips` times, one after the other (decision
// 0017).
//
// The operands of the call, and likewise the parameters of the function, are first the states, then
// the scanned operands, then what all trips share. In each trip the function gets one row of every
// scanned operand, without its first axis. Its result is a tuple of the next states, then of rows
// to be stacked along a new first axis; the result of the call is a tuple of the last states, then
// of the stacks.
#ifndef HONE_COMPILER_OPS_REPEAT_H_
#define HONE_COMPILER_OPS_REPEAT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::ops {

// Even trips that do nothing take a nanosecond each, so this many take a quarter of an hour.
inline constexpr int64_t kMostTrips = int64_t{1} << 40;

// The attributes of a repeat.
struct Repeat {
  int64_t trips = 1;
  int64_t states = 0;
  int64_t slices = 0;  // the number of scanned operands
  // One entry for each slice, then one for each stack: 1 if its rows go from the last to the first.
  std::vector<int64_t> backwards = {};
  // Whether scanned operands and stacks have the shape that PackRepeats gives them: (trips,
  // RowElements of a row).
  bool rows = false;

  size_t StackCount(const ir::Type& function) const {
    return function.fields.back().fields.size() - static_cast<size_t>(states);
  }
  bool IsBackwards(size_t i) const { return i < backwards.size() && backwards[i] != 0; }
};

bool IsRepeat(const ir::ExprNode& node);
// Reads the attributes of a call for which IsRepeat is true; kInvalidArgument if they make no
// sense.
absl::StatusOr<Repeat> RepeatOf(const ir::Attrs& attrs);
// The same for a typed call.
Repeat RepeatOf(const ir::ExprNode& call);
ir::Attrs AttrsOf(const Repeat& repeat);

// The least number of elements that hold a tensor of `type` and take a multiple of
// HONE_BUFFER_ALIGNMENT bytes.
int64_t RowElements(const ir::TensorType& type);

// The type of the result of a repeat of a function of type `function` with operands of types
// `args`. kInvalidArgument, which says what was expected, if they do not fit each other.
absl::StatusOr<ir::Type> RepeatType(const Repeat& repeat, const ir::Type& function,
                                    const std::vector<ir::Type>& args);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_REPEAT_H_
