// Builds repeats (ops/repeat.h) for converters. The caller builds the body on variables for what
// changes from trip to trip; the builder finds what else the body uses.
#ifndef HONE_COMPILER_FRONTEND_ONNX_REPEAT_BUILDER_H_
#define HONE_COMPILER_FRONTEND_ONNX_REPEAT_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"
#include "compiler/ops/repeat.h"

namespace hone::frontend {

// Loops of up to this many trips are always unrolled: constants fold across the trips, and a first
// state of zeros costs nothing.
inline constexpr int64_t kMostShortTrips = 16;
// Loops that cannot be repeats are unrolled up to this many trips.
inline constexpr int64_t kMostUnrolledTrips = 1024;

// What the repeats of one import share.
struct Repeats {
  std::map<std::string, ir::Expr> functions;  // bodies by name, to become functions of the module
  bool inside = false;                        // a body is being converted: loops in it are unrolled
};

class RepeatBuilder {
 public:
  explicit RepeatBuilder(int64_t trips) { repeat_.trips = trips; }

  // Each adds an operand, and returns the variable that stands in the body for the value of the
  // state, or for the row of `scanned` along its first axis, in a trip. `row` is that variable if
  // the caller has one already. All states must be added before the slices.
  ir::Expr AddState(const ir::Expr& initial);
  ir::Expr AddSlice(const ir::Expr& scanned, bool backwards, ir::Expr row = nullptr);

  struct Stack {
    ir::Expr row;
    bool backwards = false;
  };
  // Returns the states after the last trip, then the stacks. `next` are the states after a trip,
  // and `stacks` the rows that a trip gives. What does not change from trip to trip is computed
  // once, outside. kUnimplemented if a state changes its type; if there are too many trips; if
  // there are up to kMostUnrolledTrips, over constants alone: once unrolled, such a loop can be
  // evaluated.
  absl::StatusOr<std::vector<ir::Expr>> Finish(const std::vector<ir::Expr>& next,
                                               const std::vector<Stack>& stacks,
                                               Repeats* repeats) &&;

 private:
  ops::Repeat repeat_;
  std::vector<ir::Expr> operands_;
  std::vector<ir::Expr> params_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ONNX_REPEAT_BUILDER_H_
