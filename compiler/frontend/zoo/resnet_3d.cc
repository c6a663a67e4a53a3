// ResNet-18 over time, height and width of 16 frames of 112 x 112, with batch norm and relu before
// the convolutions (He et al., arXiv 1603.05027; the 3-D net of Tran et al., arXiv 1711.11248).
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

// The scale of the batch norm inside a residual branch, which keeps the sum from growing.
constexpr double kBranchScale = 0.35;

// Where the shortcut is a convolution, it reads what the branch does.
ir::Expr Block(NetBuilder& net, const ir::Expr& x, int64_t channels, int64_t stride, bool first) {
  const ir::Expr active = net.Relu(net.BatchNorm(x));
  const ir::Expr inner = net.Conv(active, {channels, 3, stride, 1});
  const ir::Expr branch =
      net.Conv(net.Relu(net.BatchNorm(inner, kBranchScale)), {channels, 3, 1, 1});
  return net.Add(branch, first ? net.Conv(active, {channels, 1, stride}) : x);
}

}  // namespace

ir::Expr BuildResnet3d(NetBuilder& net) {
  ir::Expr x = net.BatchNorm(net.Image(3, {16, 112, 112}));
  x = net.ConvBnRelu(x, {64, {3, 7, 7}, {1, 2, 2}, {1, 3, 3}});
  x = net.MaxPool(x, {3, 2, 1});
  for (const int64_t channels : {64, 128, 256, 512}) {
    x = Block(net, x, channels, channels == 64 ? 1 : 2, true);
    x = Block(net, x, channels, 1, false);
  }
  return net.Classifier(net.Relu(net.BatchNorm(x)), kLastGain);
}

}  // namespace hone::frontend
