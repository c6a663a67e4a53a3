// ResNet v1 on 224 x 224 images (He et al., arXiv 1512.03385): 18 layers of basic blocks, 50 of
// bottlenecks.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

// Of the last batch norm of a residual branch; 16 blocks then grow their sum by less than 2.
constexpr double kBranchScale = 0.25;

// Of the classifier: softmax's operands then spread over a few units, so that no class has it all.
constexpr double kLastGain = 0.25;

struct Block {
  int64_t channels;  // of its 3x3 convolutions
  int64_t out;
  int64_t stride;
};

ir::Expr BasicBranch(NetBuilder& net, const ir::Expr& x, const Block& block) {
  const ir::Expr y = net.ConvBnRelu(x, {block.channels, 3, block.stride, 1});
  return net.BatchNorm(net.Conv(y, {block.out, 3, 1, 1}), kBranchScale);
}

ir::Expr BottleneckBranch(NetBuilder& net, const ir::Expr& x, const Block& block) {
  ir::Expr y = net.ConvBnRelu(x, {block.channels, 1, block.stride, 0});
  y = net.ConvBnRelu(y, {block.channels, 3, 1, 1});
  return net.BatchNorm(net.Conv(y, {block.out, 1, 1, 0}), kBranchScale);
}

ir::Expr Residual(NetBuilder& net, const ir::Expr& x, const Block& block, bool bottleneck) {
  const ir::Expr branch = bottleneck ? BottleneckBranch(net, x, block) : BasicBranch(net, x, block);
  const bool same = x->type->tensor.shape[1] == block.out && block.stride == 1;
  const ir::Expr shortcut = same ? x : net.BatchNorm(net.Conv(x, {block.out, 1, block.stride, 0}));
  return net.Relu(net.Add(branch, shortcut));
}

ir::Expr Resnet(NetBuilder& net, int64_t batch, const std::vector<int>& depths, bool bottleneck) {
  ir::Expr x = net.Input("data", {batch, 3, 224, 224});
  x = net.MaxPool(net.ConvBnRelu(x, {64, 7, 2, 3}), 3, 2, 1);
  int64_t channels = 64;
  for (size_t stage = 0; stage < depths.size(); ++stage, channels *= 2) {
    for (int i = 0; i < depths[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = Residual(net, x, {channels, bottleneck ? 4 * channels : channels, stride}, bottleneck);
    }
  }
  return net.Softmax(net.Dense(net.Flatten(net.GlobalAvgPool(x)), 1000, kLastGain));
}

}  // namespace

ir::Expr BuildResnet18(NetBuilder& net, int64_t batch) {
  return Resnet(net, batch, {2, 2, 2, 2}, false);
}

ir::Expr BuildResnet50(NetBuilder& net, int64_t batch) {
  return Resnet(net, batch, {3, 4, 6, 3}, true);
}

}  // namespace hone::frontend
