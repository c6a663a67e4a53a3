// DenseNet-121 on 224 x 224 images (Huang et al., arXiv 1608.06993): each layer adds 32 channels to
// those it reads, which are all before it in its block; 1x1 convolutions halve them between blocks.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

constexpr int64_t kGrowth = 32;

ir::Expr BnReluConv(NetBuilder& net, const ir::Expr& x, const ConvShape& shape) {
  return net.Conv(net.Relu(net.BatchNorm(x)), shape);
}

}  // namespace

ir::Expr BuildDensenet121(NetBuilder& net) {
  ir::Expr x = net.ConvBnRelu(net.Image(3, {224, 224}), {64, 7, 2, 3});
  x = net.MaxPool(x, {3, 2, 1});
  int64_t channels = 64;
  for (const int layers : {6, 12, 24, 16}) {
    if (channels != 64) {
      channels /= 2;
      x = net.AvgPool(BnReluConv(net, x, {channels, 1}), {2, 2}, /*count_padding=*/false);
    }
    for (int i = 0; i < layers; ++i, channels += kGrowth) {
      const ir::Expr squeezed = BnReluConv(net, x, {4 * kGrowth, 1});
      x = net.Concat({x, BnReluConv(net, squeezed, {kGrowth, 3, 1, 1})});
    }
  }
  return net.Classifier(net.Relu(net.BatchNorm(x)));
}

}  // namespace hone::frontend
