// Repeats: calls of a named function that are made `trips` times, one after the other (decision
// 0017).
//
// The call's operands, and the function's parameters, are the states, then what is scanned, then
// what all trips share; the function has a row of what is scanned, without its first axis. The
// function's result is a tuple of the next states, then of what is stacked along a new first axis;
// the call's is one of the last states, then of the stacks.
#ifndef HONE_COMPILER_OPS_REPEAT_H_
#define HONE_COMPILER_OPS_REPEAT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::ops {

// Trips that do nothing take a nanosecond each: more would take longer than a quarter of an hour.
inline constexpr int64_t kMostTrips = int64_t{1} << 40;

// The attributes of such a call.
struct Repeat {
  int64_t trips = 1;
  int64_t states = 0;
  int64_t slices = 0;  // operands that are scanned
  // One entry a slice, then one a stack: 1 where the last row is first.
  std::vector<int64_t> backwards = {};
  // Scanned operands and stacks are rows as PackRepeats makes them: (trips, RowElements of a row).
  bool rows = false;

  size_t StackCount(const ir::Type& function) const {
    return function.fields.back().fields.size() - static_cast<size_t>(states);
  }
  bool IsBackwards(size_t i) const { return i < backwards.size() && backwards[i] != 0; }
};

bool IsRepeat(const ir::ExprNode& node);
// Reads the attributes of a call of which IsRepeat holds; kInvalidArgument where they make no
// sense.
absl::StatusOr<Repeat> RepeatOf(const ir::Attrs& attrs);
// The same of a call that has a type.
Repeat RepeatOf(const ir::ExprNode& call);
ir::Attrs AttrsOf(const Repeat& repeat);

// The least number of elements that hold a tensor of `type` and are whole multiples of
// HONE_BUFFER_ALIGNMENT bytes.
int64_t RowElements(const ir::TensorType& type);

// The type of a repeat of a function of type `function`.
absl::StatusOr<ir::Type> RepeatType(const Repeat& repeat, const ir::Type& function,
                                    const std::vector<ir::Type>& args);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_REPEAT_H_
