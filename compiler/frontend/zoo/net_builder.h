// The layers of the zoo's models, with seeded weights. A layer that does not fit its operand is a
// bug of the model and stops the program.
#ifndef HONE_COMPILER_FRONTEND_ZOO_NET_BUILDER_H_
#define HONE_COMPILER_FRONTEND_ZOO_NET_BUILDER_H_

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "compiler/frontend/zoo/zoo.h"
#include "compiler/ir/expr.h"
#include "support/random.h"

namespace hone::frontend {

// One number for each spatial axis, or one for all of them.
class PerAxis {
 public:
  PerAxis(int64_t all) : values_({all}) {}                             // NOLINT
  PerAxis(std::initializer_list<int64_t> values) : values_(values) {}  // NOLINT
  int64_t operator[](size_t axis) const { return values_[values_.size() == 1 ? 0 : axis]; }
  std::vector<int64_t> Of(size_t axes) const;

 private:
  std::vector<int64_t> values_;
};

// Window and channels of a convolution.
struct ConvShape {
  int64_t channels = 0;  // of the result; not read if `depthwise`: it then has the operand's
  PerAxis kernel = 1;
  PerAxis stride = 1;
  PerAxis padding = 0;  // before and after
  bool depthwise = false;
};

// Window of a pooling layer.
struct PoolShape {
  PerAxis kernel = 1;
  PerAxis stride = 1;
  PerAxis padding = 0;
  bool ceil_mode = false;
};

// Weights are drawn in the order the layers are added. Convolutions and pools have as many axes as
// their operand. Not thread-safe.
class NetBuilder {
 public:
  explicit NetBuilder(uint64_t seed, ZooSize size = {}) : size_(size), random_(seed) {}

  int64_t batch() const { return size_.batch; }
  // Width scales numbers of channels and units, Extent those of images and sequences, to the size
  // of the net. Layers take the numbers of the paper and scale them; so does Image. Models scale
  // the extents of other inputs.
  int64_t Width(int64_t channels) const;
  int64_t Extent(int64_t extent) const;

  ir::Expr Input(const std::string& name, std::vector<int64_t> shape,
                 DataType dtype = DataType::kFloat32);
  // An input "data" of shape (batch, channels, extents), with the extents scaled by Extent.
  ir::Expr Image(int64_t channels, const std::vector<int64_t>& extents);
  // The module whose "main" computes `output` from all inputs.
  ir::Module Finish(const ir::Expr& output) const;

  // A weight whose elements are drawn uniformly between `low` and `high`.
  ir::Expr Uniform(std::vector<int64_t> shape, double low, double high);
  // A call of an operator without weights.
  static ir::Expr Call(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs = {});

  // The weights are uniform with the variance 2 / fan_in (He et al., arXiv 1502.01852): activations
  // behind a relu then stay about as large as they were.
  ir::Expr Conv(const ir::Expr& x, const ConvShape& shape);
  // A transposed convolution. The variance of its weights is such that its result is as large as
  // that of Conv.
  ir::Expr ConvTranspose(const ir::Expr& x, const ConvShape& shape);
  // `scale` is the middle of gamma's range: if it is small at the end of residual branches, sums of
  // branches do not grow.
  ir::Expr BatchNorm(const ir::Expr& x, double scale = 1, double epsilon = 1e-5);
  ir::Expr ConvBnRelu(const ir::Expr& x, const ConvShape& shape);
  ir::Expr ConvBiasRelu(const ir::Expr& x, const ConvShape& shape);
  // A fully connected layer over the last axis, with a bias. `gain` scales the weights: in the last
  // layer it keeps the operands of softmax about as large as 1.
  ir::Expr Dense(const ir::Expr& x, int64_t units, double gain = 1);
  ir::Expr Bias(const ir::Expr& x);  // of channels

  ir::Expr Relu(const ir::Expr& x);
  ir::Expr Relu6(const ir::Expr& x);
  ir::Expr Add(const ir::Expr& a, const ir::Expr& b);
  ir::Expr Concat(std::vector<ir::Expr> parts, int64_t axis = 1);
  ir::Expr MaxPool(const ir::Expr& x, const PoolShape& shape);
  ir::Expr AvgPool(const ir::Expr& x, const PoolShape& shape, bool count_padding = true);
  ir::Expr GlobalAvgPool(const ir::Expr& x);
  ir::Expr Flatten(const ir::Expr& x);
  ir::Expr Reshape(const ir::Expr& x, std::vector<int64_t> shape);
  ir::Expr Softmax(const ir::Expr& x, int64_t axis = 1);
  // The probabilities of 1000 classes for the features of an image.
  ir::Expr Classifier(const ir::Expr& features, double gain = 1);

 private:
  ZooSize size_;
  Random random_;
  std::vector<ir::Expr> inputs_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ZOO_NET_BUILDER_H_
