// MobileNet on 224 x 224 images: version 1 (Howard et al., arXiv 1704.04861), depthwise 3x3, then
// 1x1; version 2 (Sandler et al., arXiv 1801.04381), residual blocks that are wide inside.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

// The scale of a residual branch's last batch norm, which keeps the sum from growing.
constexpr double kResidualScale = 0.5;

struct InvertedResidual {
  int64_t expansion;
  int64_t out;
  int64_t repeats;
  int64_t stride;  // of the first
};

ir::Expr ConvBnRelu6(NetBuilder& net, const ir::Expr& x, const ConvShape& shape) {
  return net.Relu6(net.BatchNorm(net.Conv(x, shape)));
}

ir::Expr Block(NetBuilder& net, const ir::Expr& x, int64_t in, const InvertedResidual& block,
               int64_t stride) {
  ir::Expr y = x;
  if (block.expansion != 1) y = ConvBnRelu6(net, y, {in * block.expansion, 1});
  y = net.Conv(ConvBnRelu6(net, y, {0, 3, stride, 1, true}), {block.out, 1});
  if (stride != 1 || in != block.out) return net.BatchNorm(y);
  return net.Add(x, net.BatchNorm(y, kResidualScale));
}

}  // namespace

ir::Expr BuildMobilenet(NetBuilder& net) {
  struct Separable {
    int64_t out;
    int64_t stride;
  };
  constexpr Separable kBlocks[] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                   {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                   {512, 1}, {1024, 2}, {1024, 1}};
  ir::Expr x = net.ConvBnRelu(net.Image(3, {224, 224}), {32, 3, 2, 1});
  for (const Separable& block : kBlocks) {
    x = net.ConvBnRelu(x, {0, 3, block.stride, 1, true});
    x = net.ConvBnRelu(x, {block.out, 1});
  }
  return net.Classifier(x);
}

ir::Expr BuildMobilenetV2(NetBuilder& net) {
  constexpr InvertedResidual kBlocks[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                                          {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                                          {6, 320, 1, 1}};
  ir::Expr x = ConvBnRelu6(net, net.Image(3, {224, 224}), {32, 3, 2, 1});
  int64_t channels = 32;
  for (const InvertedResidual& block : kBlocks) {
    for (int64_t i = 0; i < block.repeats; ++i, channels = block.out) {
      x = Block(net, x, channels, block, i == 0 ? block.stride : 1);
    }
  }
  return net.Classifier(ConvBnRelu6(net, x, {1280, 1}), kLastGain);
}

}  // namespace hone::frontend
