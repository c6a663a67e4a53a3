// The generator of DCGAN (Radford et al., arXiv 1511.06434, figure 1): 100 random numbers to an
// image of 64 x 64, by convolutions transposed.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {

ir::Expr BuildDcgan(NetBuilder& net) {
  constexpr int64_t kSide = 4;
  ir::Expr x = net.Dense(net.Input("data", {net.batch(), 100}), 1024 * kSide * kSide);
  const int64_t channels = x->type->tensor.shape[1] / (kSide * kSide);
  x = net.Reshape(x, {net.batch(), channels, kSide, kSide});
  x = net.Relu(net.BatchNorm(x));
  for (const int64_t next : {512, 256, 128}) {
    x = net.Relu(net.BatchNorm(net.ConvTranspose(x, {next, 4, 2, 1})));
  }
  return net.Call("tanh", {net.ConvTranspose(x, {3, 4, 2, 1})});
}

}  // namespace hone::frontend
