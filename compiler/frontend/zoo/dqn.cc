// The Q-network of Mnih et al. (Nature 518, 2015): the values of 18 actions by the last four
// frames.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {

ir::Expr BuildDqn(NetBuilder& net) {
  ir::Expr x = net.ConvBiasRelu(net.Image(4, {84, 84}), {32, 8, 4});
  x = net.ConvBiasRelu(x, {64, 4, 2});
  x = net.ConvBiasRelu(x, {64, 3});
  return net.Dense(net.Relu(net.Dense(net.Flatten(x), 512)), 18);
}

}  // namespace hone::frontend
