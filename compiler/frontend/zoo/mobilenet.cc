// MobileNet v1 on 224 x 224 images (Howard et al., arXiv 1704.04861): depthwise 3x3, then 1x1.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {

ir::Expr BuildMobilenet(NetBuilder& net, int64_t batch) {
  struct Block {
    int64_t out;
    int64_t stride;
  };
  constexpr Block kBlocks[] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                               {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                               {512, 1}, {1024, 2}, {1024, 1}};
  ir::Expr x = net.ConvBnRelu(net.Input("data", {batch, 3, 224, 224}), {32, 3, 2, 1});
  int64_t channels = 32;
  for (const Block& block : kBlocks) {
    x = net.ConvBnRelu(x, {channels, 3, block.stride, 1, true});
    x = net.ConvBnRelu(x, {block.out, 1, 1, 0});
    channels = block.out;
  }
  return net.Softmax(net.Dense(net.Flatten(net.GlobalAvgPool(x)), 1000));
}

}  // namespace hone::frontend
