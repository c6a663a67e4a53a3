// Pieces against the positions of elements, one by one.
#include "compiler/passes/pieces.h"

#include <gtest/gtest.h>

#include <map>

#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

using ir::Expr;

constexpr int64_t kHeight = 2;
constexpr int64_t kWidth = 3;

Layout LayoutOf(const std::string& text) { return *Layout::Parse(text, 4); }

// Moves of one function with parameters of feature maps.
class MoveBuilder {
 public:
  MoveBuilder(Random& random, bool many_pixels) : random_(random) {
    if (many_pixels) pixels_ = {kHeight, kWidth};
  }

  Expr Param() {
    params_.push_back(ir::TensorVar("p" + std::to_string(params_.size()),
                                    {1, Channels(), pixels_[0], pixels_[1]}, DataType::kFloat32));
    return params_.back();
  }
  Expr Slice(const Expr& data, int64_t channels) {
    const int64_t from = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(channels)));
    const int64_t end =
        random_.Below(2) == 0
            ? channels
            : from + 1 +
                  static_cast<int64_t>(random_.Below(static_cast<uint64_t>(channels - from)));
    const int64_t begin = random_.Below(2) == 0 ? from / 4 * 4 : from;
    return ir::Call("strided_slice", {data},
                    {{"axes", std::vector<int64_t>{1}},
                     {"begin", std::vector<int64_t>{begin}},
                     {"end", std::vector<int64_t>{end}}});
  }
  // A function of typed nodes: parts, each whole or cut, and perhaps joined.
  Expr Function() {
    std::vector<Expr> parts;
    for (uint64_t n = 1 + random_.Below(3); n > 0; --n) {
      const Expr part = Param();
      const bool cuts = random_.Below(2) == 0;
      parts.push_back(cuts ? Slice(part, part->type->tensor.shape[1]) : part);
    }
    Expr body = parts[0];
    if (parts.size() > 1 || body == params_[0]) {
      body = ir::Call("concatenate", {ir::Tuple(parts)}, {{"axis", int64_t{1}}});
    }
    const ir::Module module{{{"main", ir::Function(params_, body)}}};
    return Typed(module);
  }

 private:
  static Expr Typed(const ir::Module& module) {
    const auto typed = RunOne(module, TestContext(), "InferTypes");
    EXPECT_TRUE(typed.ok()) << typed.status();
    return typed->functions.at("main");
  }
  int64_t Channels() {
    return random_.Below(2) == 0 ? 4 * (1 + static_cast<int64_t>(random_.Below(3)))
                                 : 1 + static_cast<int64_t>(random_.Below(13));
  }

  Random& random_;
  std::vector<int64_t> pixels_ = {1, 1};
  std::vector<Expr> params_;
};

// Every element of every operand has a number of its own; pads are 0.
using Numbers = std::vector<float>;

// The logical elements of a node, in order.
Numbers Evaluate(const Expr& node, const std::map<const ir::ExprNode*, Numbers>& params) {
  const auto found = params.find(node.get());
  if (found != params.end()) return found->second;
  const auto& shape = node->type->tensor.shape;
  const auto pixels = static_cast<size_t>(shape[2] * shape[3]);
  if (node->name == "strided_slice") {
    const Numbers data = Evaluate(node->args[0], params);
    const auto begin = static_cast<ptrdiff_t>(
        std::get<std::vector<int64_t>>(node->attrs.at("begin"))[0] * static_cast<int64_t>(pixels));
    return {
        data.begin() + begin,
        data.begin() + begin + static_cast<ptrdiff_t>(shape[1]) * static_cast<ptrdiff_t>(pixels)};
  }
  Numbers all;
  for (const Expr& part : node->args[0]->args) {
    const Numbers more = Evaluate(part, params);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Numbers InMemory(const Numbers& elements, const ir::TensorType& type, const Layout& layout) {
  Numbers memory(static_cast<size_t>(layout.ElementCount(type.shape)), 0);
  size_t next = 0;
  for (int64_t c = 0; c < type.shape[1]; ++c) {
    for (int64_t h = 0; h < type.shape[2]; ++h) {
      for (int64_t w = 0; w < type.shape[3]; ++w) {
        memory[static_cast<size_t>(layout.Offset({0, c, h, w}, type.shape))] = elements[next++];
      }
    }
  }
  return memory;
}

// What is found is right, pad lanes included; whole blocks in one layout are found.
TEST(Pieces, AreTheBytesOfTheResult) {
  const std::vector<std::string> layouts = {"NCHW", "NCHW4c"};
  int found = 0;
  int blocked = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Random random(seed);
    const Expr function = MoveBuilder(random, random.Below(4) != 0).Function();
    const Layout common = LayoutOf(layouts[random.Below(2)]);
    const bool differ = random.Below(5) == 0;
    const auto draw = [&] { return differ ? LayoutOf(layouts[random.Below(2)]) : common; };
    ir::LayoutSignature signature;
    std::map<const ir::ExprNode*, Numbers> params;
    std::vector<Numbers> memory;
    float number = 0;
    for (const Expr& param : ir::Params(*function)) {
      signature.operands.push_back(draw());
      Numbers& elements = params[param.get()];
      const ir::TensorType& type = param->type->tensor;
      for (int64_t i = 0; i < type.ElementCount(); ++i) elements.push_back(++number);
      memory.push_back(InMemory(elements, type, signature.operands.back()));
    }
    signature.results.push_back(draw());
    const auto pieces = PiecesOf(*function, signature);
    if (!pieces) continue;
    ++found;
    blocked += signature.results[0].IsRowMajor() ? 0 : 1;
    Numbers laid;
    for (const Piece& piece : *pieces) {
      const float* from = memory[piece.operand].data() + piece.begin / sizeof(float);
      laid.insert(laid.end(), from, from + piece.size / sizeof(float));
    }
    const Expr body = ir::Body(*function);
    EXPECT_EQ(laid, InMemory(Evaluate(body, params), body->type->tensor, signature.results[0]))
        << seed << " " << signature.ToString();
  }
  EXPECT_GT(found, 200);
  EXPECT_GT(blocked, 60);
}

// The pieces of a function of two tensors of 8 and of `channels` channels.
std::optional<std::vector<Piece>> PiecesOfText(const std::string& body, const std::string& layouts,
                                               int64_t batch = 1, int64_t channels = 8) {
  const std::string shape = "Tensor[(" + std::to_string(batch) + ", ";
  const ir::Module module = Typed("def @main(%x: " + shape + "8, 2, 2), float32], %y: " + shape +
                                  std::to_string(channels) + ", 2, 2), float32]) { " + body + " }");
  return PiecesOf(*module.functions.at("main"), *ir::LayoutSignature::Parse(layouts, {4, 4}, {4}));
}

constexpr char kJoin[] = "concatenate((%x, %y), axis=1)";

TEST(Pieces, ChannelsOfOneImageAreJoinedInAnyLayoutThatAllShare) {
  const std::vector<Piece> both = {{0, 0, 128}, {1, 0, 128}};
  EXPECT_EQ(PiecesOfText(kJoin, "NCHW,NCHW->NCHW"), both);
  EXPECT_EQ(PiecesOfText(kJoin, "NCHW4c,NCHW4c->NCHW4c"), both);
  EXPECT_EQ(PiecesOfText(kJoin, "NCHW4c,NCHW4c->NCHW"), std::nullopt);
  EXPECT_EQ(PiecesOfText(kJoin, "NCHW,NCHW4c->NCHW4c"), std::nullopt);
  EXPECT_EQ(PiecesOfText(kJoin, "NCHW,NCHW->NCHW", /*batch=*/2), std::nullopt);
  EXPECT_EQ(PiecesOfText("nn.relu(concatenate((%x, %y), axis=1))", "NCHW,NCHW->NCHW"),
            std::nullopt);
}

// The last part brings the pad lanes of the whole.
TEST(Pieces, OnlyTheLastMayEndWithinABlock) {
  const std::string turned = "concatenate((%y, %x), axis=1)";
  EXPECT_EQ(PiecesOfText(kJoin, "NCHW4c,NCHW4c->NCHW4c", 1, 5),
            (std::vector<Piece>{{0, 0, 128}, {1, 0, 128}}));
  EXPECT_EQ(PiecesOfText(turned, "NCHW4c,NCHW4c->NCHW4c", 1, 5), std::nullopt);
  EXPECT_EQ(PiecesOfText("concatenate((%y, %x, %y), axis=1)", "NCHW4c,NCHW4c->NCHW4c", 1, 5),
            std::nullopt);
  EXPECT_EQ(PiecesOfText(turned, "NCHW,NCHW->NCHW", 1, 5),
            (std::vector<Piece>{{1, 0, 80}, {0, 0, 128}}));
}

}  // namespace
}  // namespace hone::passes
