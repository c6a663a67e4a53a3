// ResNet v1 on 224 x 224 images (He et al., arXiv 1512.03385): 18 and 34 layers of basic blocks,
// 50, 101 and 152 of bottlenecks, whose 3x3 convolution has the stride (as in torchvision).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

struct Depths {
  int stages[4];
  bool bottleneck;

  // The scale of a residual branch's last batch norm: all blocks then grow their sum by less than
  // 2.
  double BranchScale() const {
    return std::min(0.25, 1 / std::sqrt(std::accumulate(stages, stages + 4, 0)));
  }
};

ir::Expr Branch(NetBuilder& net, const ir::Expr& x, int64_t channels, int64_t stride,
                const Depths& depths) {
  ir::Expr y;
  if (depths.bottleneck) {
    y = net.ConvBnRelu(net.ConvBnRelu(x, {channels, 1}), {channels, 3, stride, 1});
    y = net.Conv(y, {4 * channels, 1});
  } else {
    y = net.Conv(net.ConvBnRelu(x, {channels, 3, stride, 1}), {channels, 3, 1, 1});
  }
  return net.BatchNorm(y, depths.BranchScale());
}

ir::Expr Resnet(NetBuilder& net, const Depths& depths) {
  ir::Expr x = net.ConvBnRelu(net.Image(3, {224, 224}), {64, 7, 2, 3});
  x = net.MaxPool(x, {3, 2, 1});
  int64_t channels = 64;
  for (int stage = 0; stage < 4; ++stage, channels *= 2) {
    for (int i = 0; i < depths.stages[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      const int64_t out = depths.bottleneck ? 4 * channels : channels;
      const bool same = i > 0 || (stage == 0 && !depths.bottleneck);
      const ir::Expr branch = Branch(net, x, channels, stride, depths);
      const ir::Expr shortcut = same ? x : net.BatchNorm(net.Conv(x, {out, 1, stride}));
      x = net.Relu(net.Add(branch, shortcut));
    }
  }
  return net.Classifier(x, kLastGain);
}

}  // namespace

ir::Expr BuildResnet18(NetBuilder& net) { return Resnet(net, {{2, 2, 2, 2}, false}); }
ir::Expr BuildResnet34(NetBuilder& net) { return Resnet(net, {{3, 4, 6, 3}, false}); }
ir::Expr BuildResnet50(NetBuilder& net) { return Resnet(net, {{3, 4, 6, 3}, true}); }
ir::Expr BuildResnet101(NetBuilder& net) { return Resnet(net, {{3, 4, 23, 3}, true}); }
ir::Expr BuildResnet152(NetBuilder& net) { return Resnet(net, {{3, 8, 36, 3}, true}); }

}  // namespace hone::frontend
