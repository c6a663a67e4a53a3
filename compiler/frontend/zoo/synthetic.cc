// A net of as many operators as asked for, to see how passes and compilation grow: residual blocks
// of a convolution, its bias, relu and a sum, on small images.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {

ir::Expr BuildSynthetic(NetBuilder& net, int64_t nodes) {
  constexpr int64_t kBlock = 5;  // operators of a block
  constexpr int64_t kEnds = 5;   // of the first convolution with its relu, and the result
  ir::Expr x = net.Conv(net.Image(3, {24, 12}), {16, 3, 1, 1});
  int64_t left = nodes - kEnds;
  for (; left >= kBlock; left -= kBlock) {
    const ir::Expr y = net.ConvBiasRelu(x, {16, 3, 1, 1});
    x = net.Call("multiply", {net.Add(x, y), net.Uniform({1, net.Width(16), 1, 1}, 0.5, 0.7)});
  }
  for (; left > 0; --left) x = net.Relu(x);
  x = net.Bias(net.Call("nn.dense", {net.Flatten(net.GlobalAvgPool(x)),
                                     net.Uniform({10, net.Width(16)}, -0.5, 0.5)}));
  return x;
}

}  // namespace hone::frontend
