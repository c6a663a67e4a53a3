// VGG-16 on 224 x 224 images (Simonyan, Zisserman, arXiv 1409.1556, configuration D).
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {

ir::Expr BuildVgg16(NetBuilder& net) {
  struct Stage {
    int64_t channels;
    int layers;
  };
  constexpr Stage kStages[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
  ir::Expr x = net.Image(3, {224, 224});
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.layers; ++i) x = net.ConvBiasRelu(x, {stage.channels, 3, 1, 1});
    x = net.MaxPool(x, {2, 2});
  }
  x = net.Flatten(x);
  for (int i = 0; i < 2; ++i) x = net.Relu(net.Dense(x, 4096));
  return net.Softmax(net.Dense(x, 1000, kLastGain));
}

}  // namespace hone::frontend
