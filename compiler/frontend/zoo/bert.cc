// BERT base (Devlin et al., arXiv 1810.04805): 12 layers of 12 heads over 768 units, on sequences
// of 128 tokens. Gives the last hidden states. Rows are samples and tokens together.
#include <cmath>

#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

constexpr int64_t kLayers = 12;
constexpr int64_t kHeads = 12;

// About the spread of weights that BERT's training starts from: layers that add little to what they
// read, so that no rounding grows on the way through all twelve.
constexpr double kGain = 0.4;

class Bert {
 public:
  explicit Bert(NetBuilder& net) : net_(net), tokens_(net.Extent(128)), hidden_(net.Width(768)) {}

  ir::Expr Build() {
    ir::Expr x = Embed(net_.Input("input_ids", {net_.batch(), tokens_}, DataType::kInt64));
    const ir::Expr mask =
        MaskScores(net_.Input("attention_mask", {net_.batch(), tokens_}, DataType::kInt64));
    for (int i = 0; i < kLayers; ++i) {
      x = LayerNorm(net_.Add(net_.Dense(Attend(x, mask), 768, kGain), x));
      x = LayerNorm(net_.Add(net_.Dense(Gelu(net_.Dense(x, 3072, kGain)), 768, kGain), x));
    }
    return net_.Reshape(x, {net_.batch(), tokens_, hidden_});
  }

 private:
  static ir::Expr Scale(const ir::Expr& x, double factor) {
    return NetBuilder::Call("multiply", {x, ScalarConstant(factor, DataType::kFloat32)});
  }

  ir::Expr LayerNorm(const ir::Expr& x) {
    const ir::Expr gamma = net_.Uniform({hidden_}, 0.8, 1.2);
    return net_.Call("nn.layer_norm", {x, gamma, net_.Uniform({hidden_}, -0.125, 0.125)},
                     {{"axis", Shape{1}}, {"epsilon", 1e-12}});
  }

  // By erf.
  static ir::Expr Gelu(const ir::Expr& x) {
    const ir::Expr one = ScalarConstant(1, DataType::kFloat32);
    const ir::Expr erf = NetBuilder::Call("erf", {Scale(x, std::sqrt(0.5))});
    return NetBuilder::Call("multiply", {Scale(x, 0.5), NetBuilder::Call("add", {erf, one})});
  }

  // Words, positions and the type of the first sentence.
  ir::Expr Embed(const ir::Expr& ids) {
    const ir::Expr words = net_.Uniform({net_.Width(30522), hidden_}, -1, 1);
    const ir::Expr positions = net_.Uniform({net_.Extent(512), hidden_}, -1, 1);
    const ir::Expr types = net_.Uniform({2, hidden_}, -1, 1);
    const auto rows = [&](const ir::Expr& table, int64_t count) {
      return net_.Call("strided_slice", {table},
                       {{"begin", Shape{0}}, {"end", Shape{count}}, {"axes", Shape{0}}});
    };
    const ir::Expr fixed = net_.Add(rows(positions, tokens_), rows(types, 1));
    const ir::Expr x = net_.Add(net_.Call("take", {words, ids}, {{"axis", int64_t{0}}}), fixed);
    return LayerNorm(net_.Reshape(x, {net_.batch() * tokens_, hidden_}));
  }

  // 0 where the mask is 1, and what softmax turns into 0 where it is 0: (batch, 1, 1, tokens).
  ir::Expr MaskScores(const ir::Expr& mask) {
    const ir::Expr kept = net_.Call("cast", {mask}, {{"dtype", DataType::kFloat32}});
    const ir::Expr dropped = net_.Call("subtract", {ScalarConstant(1, DataType::kFloat32), kept});
    return net_.Reshape(Scale(dropped, -10000), {net_.batch(), 1, 1, tokens_});
  }

  // A dense layer, apart by heads: (batch * heads, tokens, units of a head), or with the last two
  // axes the other way round.
  ir::Expr Heads(const ir::Expr& x, bool turned = false) {
    const int64_t units = hidden_ / kHeads;
    ir::Expr y = net_.Reshape(net_.Dense(x, 768, kGain), {net_.batch(), tokens_, kHeads, units});
    y = net_.Call("transpose", {y}, {{"axes", turned ? Shape{0, 2, 3, 1} : Shape{0, 2, 1, 3}}});
    return net_.Reshape(
        y, {net_.batch() * kHeads, turned ? units : tokens_, turned ? tokens_ : units});
  }

  // Both are stacks of matrices; nn.batch_matmul takes the right one transposed.
  ir::Expr Multiply(const ir::Expr& a, const ir::Expr& b) {
    const ir::Expr columns = net_.Call("transpose", {b}, {{"axes", Shape{0, 2, 1}}});
    return net_.Call("nn.batch_matmul", {a, columns});
  }

  ir::Expr Attend(const ir::Expr& x, const ir::Expr& mask) {
    const ir::Expr query = Heads(x);
    const ir::Expr key = Heads(x, /*turned=*/true);
    const ir::Expr value = Heads(x);
    const int64_t units = hidden_ / kHeads;
    ir::Expr scores = Multiply(query, key);
    scores = net_.Reshape(Scale(scores, 1 / std::sqrt(static_cast<double>(units))),
                          {net_.batch(), kHeads, tokens_, tokens_});
    const ir::Expr shares = net_.Reshape(net_.Softmax(net_.Add(scores, mask), 3),
                                         {net_.batch() * kHeads, tokens_, tokens_});
    ir::Expr y = net_.Reshape(Multiply(shares, value), {net_.batch(), kHeads, tokens_, units});
    y = net_.Call("transpose", {y}, {{"axes", Shape{0, 2, 1, 3}}});
    return net_.Reshape(y, {net_.batch() * tokens_, hidden_});
  }

  NetBuilder& net_;
  const int64_t tokens_;
  const int64_t hidden_;
};

}  // namespace

ir::Expr BuildBert(NetBuilder& net) { return Bert(net).Build(); }

}  // namespace hone::frontend
