// Layers with seeded weights, as the zoo's models are made of. A layer that does not fit its
// operand is a bug of the model and stops the program.
#ifndef HONE_COMPILER_FRONTEND_ZOO_NET_BUILDER_H_
#define HONE_COMPILER_FRONTEND_ZOO_NET_BUILDER_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"
#include "support/random.h"

namespace hone::frontend {

// Window and channels of a convolution over two axes; square.
struct ConvShape {
  int64_t channels = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  bool depthwise = false;
};

// Weights are drawn in the order the layers are added. Not thread-safe.
class NetBuilder {
 public:
  explicit NetBuilder(uint64_t seed) : random_(seed) {}

  ir::Expr Input(const std::string& name, std::vector<int64_t> shape);
  // The function of all inputs.
  ir::Module Finish(const ir::Expr& output) const;

  // Uniform with the variance 2 / fan_in (He et al., arXiv 1502.01852), which a relu keeps.
  ir::Expr Conv(const ir::Expr& x, const ConvShape& shape);
  // `scale` is the middle of gamma's range: small ones at the end of residual branches keep their
  // sum from growing.
  ir::Expr BatchNorm(const ir::Expr& x, double scale = 1);
  ir::Expr ConvBnRelu(const ir::Expr& x, const ConvShape& shape);
  ir::Expr ConvBiasRelu(const ir::Expr& x, const ConvShape& shape);
  // Fully connected, with a bias. `gain` scales the weights: the last layer's keeps softmax's
  // operands about as large as 1.
  ir::Expr Dense(const ir::Expr& x, int64_t units, double gain = 1);

  ir::Expr Relu(const ir::Expr& x);
  ir::Expr Add(const ir::Expr& a, const ir::Expr& b);
  ir::Expr Concat(std::vector<ir::Expr> parts);  // of channels
  ir::Expr MaxPool(const ir::Expr& x, int64_t kernel, int64_t stride, int64_t padding);
  ir::Expr GlobalAvgPool(const ir::Expr& x);
  ir::Expr Flatten(const ir::Expr& x);
  ir::Expr Softmax(const ir::Expr& x);

 private:
  ir::Expr Uniform(std::vector<int64_t> shape, double low, double high);
  ir::Expr Bias(const ir::Expr& x, int64_t channels);

  Random random_;
  std::vector<ir::Expr> inputs_;
};

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_ZOO_NET_BUILDER_H_
