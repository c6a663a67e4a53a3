// The values of a repeat (ops/repeat.h): where they lie from trip to trip.
#ifndef HONE_COMPILER_DRIVER_REPEAT_VALUES_H_
#define HONE_COMPILER_DRIVER_REPEAT_VALUES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/kernel_graph.h"
#include "compiler/ir/expr.h"
#include "compiler/ops/repeat.h"

namespace hone::driver {

// A new value that some kernel writes, or that is a part of others.
int AddIntermediate(Specialisation& graph, const ir::TensorType& type, const Layout& layout);

// Adds the values of one repeat in rows. Parameters come first, in order, then the calls of the
// body, then the results.
class RepeatValues {
 public:
  RepeatValues(const ops::Repeat& repeat, Specialisation& graph)
      : repeat_(repeat), graph_(graph), first_of_body_(static_cast<int>(graph.values.size())) {}

  // The value of parameter `i` in the body, where the repeat is given `arg`: a state lies there in
  // the first trip, a slice moves over it, and the rest is what is given.
  int AddParam(size_t i, int arg, const ir::TensorType& type);

  // The values of the repeat itself, which has type `type`, where those of its body's result are
  // `results`: next states lie in what they are stacked in, or in two places in turn. kInternal
  // where no kernel of its own writes one of them.
  absl::StatusOr<std::vector<int>> AddResults(const std::vector<int>& results,
                                              const ir::Type& type);

 private:
  void MoveByRows(bool backwards, Value* value) const;
  absl::Status CheckIsFree(int result) const;
  void PutInTwoPlaces(int result);

  const ops::Repeat& repeat_;
  Specialisation& graph_;
  const int first_of_body_;  // values before it are of what stands around the repeat
  std::vector<int> states_;  // the parameters
};

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_REPEAT_VALUES_H_
