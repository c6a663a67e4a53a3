// Layers with seeded weights, as the zoo's models are made of. A layer that does not fit its
// operand is a bug of the model and stops the program.
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
  int64_t channels = 0;  // of the result; those of the operand where it is depthwise
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
  // Channels, units, images and sequences of this size of the model; layers take those of the paper
  // and do this themselves, images and sequences are the model's.
  int64_t Width(int64_t channels) const;
  int64_t Extent(int64_t extent) const;

  ir::Expr Input(const std::string& name, std::vector<int64_t> shape,
                 DataType dtype = DataType::kFloat32);
  // The batch, `channels` as they are, and axes of this size of the model.
  ir::Expr Image(int64_t channels, const std::vector<int64_t>& extents);
  // The function of all inputs.
  ir::Module Finish(const ir::Expr& output) const;

  // A weight.
  ir::Expr Uniform(std::vector<int64_t> shape, double low, double high);
  // An operator of no weights.
  static ir::Expr Call(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs = {});

  // Uniform with the variance 2 / fan_in (He et al., arXiv 1502.01852), which a relu keeps.
  ir::Expr Conv(const ir::Expr& x, const ConvShape& shape);
  // The transpose of a convolution, with the same variance of the result.
  ir::Expr ConvTranspose(const ir::Expr& x, const ConvShape& shape);
  // `scale` is the middle of gamma's range: small ones at the end of residual branches keep their
  // sum from growing.
  ir::Expr BatchNorm(const ir::Expr& x, double scale = 1, double epsilon = 1e-5);
  ir::Expr ConvBnRelu(const ir::Expr& x, const ConvShape& shape);
  ir::Expr ConvBiasRelu(const ir::Expr& x, const ConvShape& shape);
  // Fully connected over the last axis of rows, with a bias. `gain` scales the weights: the last
  // layer's keeps softmax's operands about as large as 1.
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
  // A distribution over 1000 classes of an image's features.
  ir::Expr Classifier(const ir::Expr& features, double gain = 1);

 private:
  ZooSize size_;
  Random random_;
  std::vector<ir::Expr> inputs_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ZOO_NET_BUILDER_H_
