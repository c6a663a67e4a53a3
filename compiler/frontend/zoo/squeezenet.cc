// SqueezeNet 1.1 on 224 x 224 images (Iandola et al., arXiv 1602.07360): fire modules squeeze the
// channels by a 1x1 convolution and expand them by a 1x1 and a 3x3 one, side by side.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

ir::Expr Fire(NetBuilder& net, const ir::Expr& x, int64_t squeeze, int64_t expand) {
  const ir::Expr s = net.ConvBiasRelu(x, {squeeze, 1});
  const ir::Expr narrow = net.ConvBiasRelu(s, {expand, 1});
  const ir::Expr wide = net.ConvBiasRelu(s, {expand, 3, 1, 1});
  return net.Concat({narrow, wide});
}

}  // namespace

ir::Expr BuildSqueezenet(NetBuilder& net) {
  ir::Expr x = net.ConvBiasRelu(net.Image(3, {224, 224}), {64, 3, 2});
  x = net.MaxPool(x, {3, 2});
  x = Fire(net, Fire(net, x, 16, 64), 16, 64);
  x = net.MaxPool(x, {3, 2});
  x = Fire(net, Fire(net, x, 32, 128), 32, 128);
  x = net.MaxPool(x, {3, 2});
  x = Fire(net, Fire(net, x, 48, 192), 48, 192);
  x = Fire(net, Fire(net, x, 64, 256), 64, 256);
  x = net.ConvBiasRelu(x, {1000, 1});
  return net.Softmax(net.Flatten(net.GlobalAvgPool(x)));
}

}  // namespace hone::frontend
