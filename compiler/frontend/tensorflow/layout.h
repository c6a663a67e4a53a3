// Where the channels of images are: TensorFlow has them last, Hone's convolutions first.
//
// Every value of a graph carries its layout through the import. Convolutions and pools give images
// with the channels first. Operators that work with any order of axes keep that order; the others
// get the axes as TensorFlow has them. So a transpose is left only where the two kinds meet.
#ifndef HONE_COMPILER_FRONTEND_TENSORFLOW_LAYOUT_H_
#define HONE_COMPILER_FRONTEND_TENSORFLOW_LAYOUT_H_

#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/tensorflow/graph.h"

namespace hone::frontend::tf {

// A result of a node. With `channels_first`, `e` is (N, C, H, W) and stands for (N, H, W, C).
struct Value {
  ir::Expr e;
  bool channels_first = false;
};

// The shape of the value as TensorFlow has it.
Shape GivenShape(const Value& value);

// The axis of (N, C, H, W) that corresponds to `axis` of (N, H, W, C).
inline int64_t ChannelsFirstAxis(int64_t axis) {
  constexpr int64_t kAxes[] = {0, 2, 3, 1};
  return kAxes[axis];
}

// Makes transposes, each only once. Transposes of constants are constants. Not thread-safe.
class Layouts {
 public:
  explicit Layouts(Allowance& allowance) : allowance_(allowance) {}

  // An image, of rank 4, as (N, C, H, W).
  absl::StatusOr<ir::Expr> ChannelsFirst(const Value& value);
  // Any value with its axes as TensorFlow has them.
  absl::StatusOr<ir::Expr> AsGiven(const Value& value);
  // Any value with its elements in the order that TensorFlow has them, to be reshaped.
  absl::StatusOr<ir::Expr> InGivenOrder(const Value& value);

  absl::StatusOr<ir::Expr> Transposed(const ir::Expr& e, const Shape& axes);
  Allowance& allowance() { return allowance_; }

 private:
  absl::StatusOr<ir::Expr> MakeTransposed(const ir::Expr& e, const Shape& axes);

  Allowance& allowance_;
  std::map<std::pair<ir::Expr, Shape>, ir::Expr> transposed_;
};

// Another shape of as many elements; a constant stays one.
absl::StatusOr<ir::Expr> Reshaped(const ir::Expr& e, const Shape& shape);

}  // namespace hone::frontend::tf

#endif  // HONE_COMPILER_FRONTEND_TENSORFLOW_LAYOUT_H_
