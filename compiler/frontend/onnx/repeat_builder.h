// Repeats (ops/repeat.h) made by converters: the body is built on variables for what changes from
// trip to trip; what else it uses is found.
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

// Up to so many trips are written out: constants fold across them, and a first state of zeros costs
// nothing.
inline constexpr int64_t kMostShortTrips = 16;
// Loops that cannot be repeats are written out up to here.
inline constexpr int64_t kMostUnrolledTrips = 1024;

// What the repeats of one import share.
struct Repeats {
  std::map<std::string, ir::Expr> functions;  // by name, to become those of the module
  bool inside = false;                        // in a body: loops there are written out
};

class RepeatBuilder {
 public:
  explicit RepeatBuilder(int64_t trips) { repeat_.trips = trips; }

  // The value in a trip of a state, and of a row of `scanned` along its first axis: `row` if it is
  // there already. States come first.
  ir::Expr AddState(const ir::Expr& initial);
  ir::Expr AddSlice(const ir::Expr& scanned, bool backwards, ir::Expr row = nullptr);

  struct Stack {
    ir::Expr row;
    bool backwards = false;
  };
  // The states after the last trip, then the stacks. What does not change from trip to trip is
  // computed once, outside. kUnimplemented where a state changes its type, where the trips are too
  // many, and where few go over constants alone, which are evaluated once they are written out.
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
