// Inception v3 on 299 x 299 images (Szegedy et al., arXiv 1512.00567), without the auxiliary
// classifier, which is for training alone.
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

class Inception {
 public:
  explicit Inception(NetBuilder& net) : net_(net) {}

  ir::Expr Conv(const ir::Expr& x, const ConvShape& shape) {
    return net_.Relu(net_.BatchNorm(net_.Conv(x, shape), 1, 1e-3));
  }

  ir::Expr Stem(const ir::Expr& image) {
    ir::Expr x = Conv(image, {32, 3, 2});
    x = Conv(Conv(x, {32, 3}), {64, 3, 1, 1});
    x = net_.MaxPool(x, {3, 2});
    x = Conv(Conv(x, {80, 1}), {192, 3});
    return net_.MaxPool(x, {3, 2});
  }

  // Figure 5 of the paper.
  ir::Expr Square(const ir::Expr& x, int64_t pooled) {
    const ir::Expr one = Conv(x, {64, 1});
    const ir::Expr five = Conv(Conv(x, {48, 1}), {64, 5, 1, 2});
    const ir::Expr three = Conv(Conv(Conv(x, {64, 1}), {96, 3, 1, 1}), {96, 3, 1, 1});
    return net_.Concat({one, five, three, Pooled(x, pooled)});
  }

  // To 17 x 17.
  ir::Expr FirstReduction(const ir::Expr& x) {
    const ir::Expr three = Conv(x, {384, 3, 2});
    const ir::Expr twice = Conv(Conv(Conv(x, {64, 1}), {96, 3, 1, 1}), {96, 3, 2});
    return net_.Concat({three, twice, net_.MaxPool(x, {3, 2})});
  }

  // Figure 6: 7x7 in factors, `inner` channels between them.
  ir::Expr Factored(const ir::Expr& x, int64_t inner) {
    const ir::Expr one = Conv(x, {192, 1});
    const ir::Expr once = Row(Conv(x, {inner, 1}), inner);
    const ir::Expr twice = Row(Column(Row(Column(Conv(x, {inner, 1}), inner), inner), inner), 192);
    return net_.Concat({one, Column(once, 192), twice, Pooled(x, 192)});
  }

  // To 8 x 8.
  ir::Expr SecondReduction(const ir::Expr& x) {
    const ir::Expr three = Conv(Conv(x, {192, 1}), {320, 3, 2});
    const ir::Expr seven = Conv(Column(Row(Conv(x, {192, 1}), 192), 192), {192, 3, 2});
    return net_.Concat({three, seven, net_.MaxPool(x, {3, 2})});
  }

  // Figure 7: the ends of two branches are 1x3 and 3x1, side by side.
  ir::Expr Wide(const ir::Expr& x) {
    const ir::Expr one = Conv(x, {320, 1});
    const ir::Expr once = Fork(Conv(x, {384, 1}));
    const ir::Expr twice = Fork(Conv(Conv(x, {448, 1}), {384, 3, 1, 1}));
    return net_.Concat({one, once, twice, Pooled(x, 192)});
  }

 private:
  ir::Expr Row(const ir::Expr& x, int64_t channels) {
    return Conv(x, {channels, {1, 7}, 1, {0, 3}});
  }
  ir::Expr Column(const ir::Expr& x, int64_t channels) {
    return Conv(x, {channels, {7, 1}, 1, {3, 0}});
  }
  ir::Expr Fork(const ir::Expr& x) {
    const ir::Expr row = Conv(x, {384, {1, 3}, 1, {0, 1}});
    return net_.Concat({row, Conv(x, {384, {3, 1}, 1, {1, 0}})});
  }
  ir::Expr Pooled(const ir::Expr& x, int64_t channels) {
    return Conv(net_.AvgPool(x, {3, 1, 1}), {channels, 1});
  }

  NetBuilder& net_;
};

}  // namespace

ir::Expr BuildInceptionV3(NetBuilder& net) {
  Inception inception(net);
  ir::Expr x = inception.Stem(net.Image(3, {299, 299}));
  for (const int64_t pooled : {32, 64, 64}) x = inception.Square(x, pooled);
  x = inception.FirstReduction(x);
  for (const int64_t inner : {128, 160, 160, 192}) x = inception.Factored(x, inner);
  x = inception.SecondReduction(x);
  for (int i = 0; i < 2; ++i) x = inception.Wide(x);
  return net.Classifier(x, kLastGain);
}

}  // namespace hone::frontend
