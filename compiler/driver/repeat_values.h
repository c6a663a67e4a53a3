// Adds the values of a repeat (ops/repeat.h) to a graph, with where they lie from trip to trip.
#ifndef HONE_COMPILER_DRIVER_REPEAT_VALUES_H_
#define HONE_COMPILER_DRIVER_REPEAT_VALUES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/kernel_graph.h"
#include "compiler/ir/expr.h"
#include "compiler/ops/repeat.h"

namespace hone::driver {

// Adds a value that a kernel writes, or that is a part of other values, and returns its index.
int AddIntermediate(Specialisation& graph, const ir::TensorType& type, const Layout& layout);

// Adds the values of one repeat that has the attribute `rows` (PackRepeats). Call AddParam for all
// parameters in order, then add the calls of the body, then call AddResults.
class RepeatValues {
 public:
  RepeatValues(const ops::Repeat& repeat, Specialisation& graph)
      : repeat_(repeat), graph_(graph), first_of_body_(static_cast<int>(graph.values.size())) {}

  // Returns the value of parameter `i` in the body, for operand `arg` of the repeat. A state lies
  // in `arg` in the first trip, a slice moves over it, and any other parameter is `arg` itself.
  int AddParam(size_t i, int arg, const ir::TensorType& type);

  // Returns the values of the repeat's result, which has type `type`; `results` are those of the
  // body's result. The next states lie in the stack that they are also part of, or in two places in
  // turn. kInternal if one of them is not written by a kernel of its own.
  absl::StatusOr<std::vector<int>> AddResults(const std::vector<int>& results,
                                              const ir::Type& type);

 private:
  void MoveByRows(bool backwards, Value* value) const;
  absl::Status CheckIsFree(int result) const;
  void PutInTwoPlaces(int result);

  const ops::Repeat& repeat_;
  Specialisation& graph_;
  const int first_of_body_;  // values before it are outside the repeat
  std::vector<int> states_;  // the values of the state parameters
};

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_REPEAT_VALUES_H_
