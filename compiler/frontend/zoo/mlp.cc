// Three dense layers on 28 x 28 images.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {

ir::Expr BuildMlp(NetBuilder& net) {
  ir::Expr x = net.Flatten(net.Image(1, {28, 28}));
  for (const int64_t units : {128, 64}) x = net.Relu(net.Dense(x, units));
  return net.Softmax(net.Dense(x, 10));
}

}  // namespace hone::frontend
