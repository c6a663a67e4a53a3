#include "tests/compiler/codegen/grid_workload.h"

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/ops/lower.h"
#include "tests/compiler/codegen/random_workload.h"

namespace hone::codegen {
namespace {

// A few steps of the type.
double ToleranceOf(const std::string& type) {
  return type == "bfloat16" ? 0x1p-6 : type == "float16" ? 0x1p-9 : 1e-4;
}

int64_t OneOf(std::initializer_list<int64_t> values, Draw& draw) {
  return values.begin()[draw.Below(static_cast<int64_t>(values.size()))];
}

// The kernel's last line, or an operator on its results.
void DrawAfter(Draw& draw, const std::string& value) {
  if (draw.Once(2)) draw.Let(fmt::format("{}({})", draw.Of({"nn.relu", "tanh"}), value));
}

// As DrawAfter, or with other operands; `axis` has the channels.
void DrawTail(Draw& draw, const std::string& value, const Shape& shape, size_t axis,
              const std::string& type) {
  if (draw.Once(2)) return DrawAfter(draw, value);
  Shape broadcast(shape.size() - axis, 1);
  broadcast[0] = shape[axis];
  std::string sum = draw.Let(fmt::format("add({}, {})", value, draw.Const(broadcast, type)));
  if (draw.Once(2)) sum = draw.Let(fmt::format("add({}, {})", sum, draw.Param(shape, type)));
  DrawAfter(draw, sum);
}

// What is computed where the operand is copied.
std::string DrawBefore(Draw& draw, const std::string& operand) {
  if (!draw.Once(4)) return operand;
  return draw.Let(fmt::format("{}({})", draw.Of({"nn.relu", "sigmoid"}), operand));
}

std::string DrawProductOf(Draw& draw, const std::string& type, int64_t rows, int64_t columns,
                          int64_t terms) {
  if (draw.Once(2)) {
    const std::string left = DrawBefore(draw, draw.Param({rows, terms}, type));
    const std::string right = draw.Param({columns, terms}, type, !draw.Once(3));
    DrawTail(draw, draw.Let(fmt::format("nn.dense({}, {})", left, right)), {rows, columns}, 1,
             type);
    return type;
  }
  const int64_t batch = rows < 64 ? OneOf({1, 2, 3}, draw) : 1;
  const auto operand = [&](int64_t extent) {
    if (!draw.Once(4)) return DrawBefore(draw, draw.Param({batch, extent, terms}, type));
    const std::string given = draw.Param({batch, terms, extent}, type);
    return draw.Let(fmt::format("transpose({}, axes=[0, 2, 1])", given));
  };
  const std::string left = operand(rows), right = operand(columns);
  DrawTail(draw, draw.Let(fmt::format("nn.batch_matmul({}, {})", left, right)),
           {batch, rows, columns}, 2, type);
  return type;
}

// What tiles of threads and warps divide, and sizes beside.
std::string DrawProduct(Draw& draw) {
  const std::string type = draw.Of({"float32", "float16", "bfloat16"});
  if (draw.Once(3)) {  // few results of long sums, which other blocks share
    const int64_t rows = OneOf({8, 16, 32}, draw), columns = OneOf({8, 16, 32}, draw);
    return DrawProductOf(draw, type, rows, columns, OneOf({128, 256, 512}, draw));
  }
  const int64_t rows = OneOf({8, 14, 16, 20, 32, 48}, draw);
  const int64_t columns = OneOf({8, 16, 21, 24, 28, 64}, draw);
  return DrawProductOf(draw, type, rows, columns, OneOf({1, 4, 6, 16, 32, 48, 64}, draw));
}

// What tiles of warpgroups divide.
std::string DrawLargeProduct(Draw& draw) {
  const std::string type = draw.Of({"float16", "bfloat16"});
  const int64_t rows = OneOf({64, 64, 128}, draw), columns = OneOf({64, 96, 128}, draw);
  return DrawProductOf(draw, type, rows, columns, OneOf({64, 128, 192}, draw));
}

std::string DrawConvolution(Draw& draw) {
  const std::string type = draw.Of({"float32", "float16", "bfloat16"});
  const bool is_narrow = type != "float32";
  const int64_t kernel = OneOf({1, 3}, draw);
  const int64_t dilation = kernel == 1 ? 1 : OneOf({1, 1, 2}, draw);
  const int64_t padding = OneOf({0, 1}, draw) * (kernel / 2) * dilation;
  const int64_t stride = OneOf({1, 1, 2}, draw);
  const int64_t images = OneOf({1, 2}, draw), size = OneOf({7, 8, 14, 16}, draw);
  const int64_t channels = is_narrow ? OneOf({8, 16, 32}, draw) : OneOf({3, 4, 8, 64}, draw);
  const int64_t out = is_narrow && size < 14 ? OneOf({8, 16, 32}, draw) : OneOf({8, 16}, draw);
  const bool is_apart = draw.Once(6);  // a channel by itself
  const std::string data = DrawBefore(draw, draw.Param({images, channels, size, size}, type));
  const Shape weights = {is_apart ? channels : out, is_apart ? 1 : channels, kernel, kernel};
  const std::string value = draw.Let(fmt::format(
      "nn.conv2d({0}, {1}, strides=[{2}, {2}], padding=[{3}, {3}, {3}, {3}], "
      "dilation=[{4}, {4}], groups={5})",
      data, draw.Const(weights, type), stride, padding, dilation, is_apart ? channels : 1));
  const int64_t result = (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  DrawTail(draw, value, {images, weights[0], result, result}, 1, type);
  return type;
}

// Rows of few and of odd numbers of elements, of each type that kernels have.
std::string DrawRows(Draw& draw) {
  const int64_t rows = OneOf({1, 3, 4, 8, 32}, draw);
  const int64_t columns = OneOf({8, 21, 49, 64, 197, 256, 1000}, draw);
  const std::string type = draw.Of({"float32", "float32", "float16", "bfloat16"});
  const auto data = [&] { return draw.Param({rows, columns}, type); };
  const auto across = [&] { return draw.Param({2, columns, rows}, type); };
  const auto weights = [&] { return draw.Const({columns}, type); };
  switch (draw.Below(8)) {
    case 0:
      DrawAfter(draw, draw.Let(fmt::format("nn.softmax({})", data())));
      break;
    case 1:
      draw.Let(fmt::format("nn.log_softmax({}, axis=1)", across()));
      break;
    case 2: {
      const std::string left = data(), right = data();
      const std::string sum = draw.Let(fmt::format("add({}, {})", left, right));
      const std::string scale = weights(), shift = weights();
      draw.Let(fmt::format("nn.layer_norm({}, {}, {})", sum, scale, shift));
      break;
    }
    case 3:
      DrawAfter(draw, draw.Let(fmt::format("{}({}, axis=[1])", draw.Of({"mean", "max"}), data())));
      break;
    case 4:
      draw.Let(fmt::format("sum({}, axis=[1], keepdims=true)", across()));
      break;
    case 5: {
      const std::string whole = draw.Of({"int32", "int64"});
      draw.Let(fmt::format("sum({}, axis=[1])", draw.Param({rows, columns}, whole)));
      break;
    }
    case 6:
      draw.Let(fmt::format("argmax({}, axis=1)", data()));
      break;
    default: {
      const std::string left = draw.Param({1, columns});
      const std::string right = draw.Const({4 * rows, columns});
      DrawAfter(draw, draw.Let(fmt::format("nn.dense({}, {})", left, right)));
      return "float32";
    }
  }
  return type;
}

// Changes of layout, alone and with another operand.
std::string DrawTranspose(Draw& draw) {
  const std::string type = draw.Of({"float32", "float16", "bfloat16", "int32", "int8"});
  const int64_t rows = OneOf({8, 14, 33, 64}, draw), columns = OneOf({9, 16, 40, 64}, draw);
  if (draw.Once(2)) {
    const std::string given = draw.Param({rows, columns}, type);
    const std::string turned = draw.Let(fmt::format("transpose({})", given));
    draw.Let(fmt::format("add({}, {})", turned, draw.Param({columns, rows}, type)));
  } else {
    draw.Let(fmt::format("transpose({}, axes=[0, {}])", draw.Param({2, rows, 3, columns}, type),
                         draw.Of({"2, 3, 1", "3, 1, 2"})));
  }
  return type;
}

// Products with the reductions of a softmax between them, as attention has them.
std::string DrawAttention(Draw& draw) {
  const int64_t rows = OneOf({4, 14, 32}, draw), columns = OneOf({32, 64, 100, 128}, draw);
  const int64_t terms = OneOf({8, 16}, draw);
  const std::string queries = draw.Param({2, rows, terms}), keys = draw.Param({2, columns, terms});
  const std::string scores = draw.Let(fmt::format("nn.batch_matmul({}, {})", queries, keys));
  const std::string shares = draw.Let(fmt::format("nn.softmax({})", scores));
  draw.Let(fmt::format("nn.batch_matmul({}, {})", shares, draw.Param({2, terms, columns})));
  return "float32";
}

// The same with all tensors of float32 in 16 bits, where that is a workload, too.
GridWorkload Narrowed(const GridWorkload& wide, const std::string& type) {
  const std::string text = absl::StrReplaceAll(wide.text, {{"float32]", absl::StrCat(type, "]")}});
  if (!ops::LowerWorkload(text).ok()) return wide;
  constexpr double kRoundedTwice = 4;  // sums, and what operators behind them make of each step
  return {text, kRoundedTwice * ToleranceOf(type)};
}

GridWorkload AnyOfAllFamilies(Random& random) {
  static const auto* const families = new std::vector<Family>(AllFamilies());
  const Family& family = (*families)[random.Below(families->size())];
  const GridWorkload wide = {RandomWorkload(family, random, kSizesCount), ToleranceOf("float32")};
  switch (random.Below(3)) {
    case 0:
      return wide;
    case 1:
      return Narrowed(wide, "float16");
    default:
      return Narrowed(wide, "bfloat16");
  }
}

}  // namespace

GridWorkload RandomGridWorkload(Random& random, int number) {
  constexpr std::string (*kKinds[])(Draw&) = {
      DrawProduct, DrawLargeProduct, DrawRows,        DrawConvolution, DrawTranspose,
      DrawProduct, DrawLargeProduct, DrawConvolution, DrawAttention,   DrawRows};
  const size_t kind = static_cast<size_t>(number) % (std::size(kKinds) + 1);
  if (kind == std::size(kKinds)) return AnyOfAllFamilies(random);
  Draw draw(random, Sizes::kMixed);
  const std::string type = kKinds[kind](draw);
  return {draw.Text("default"), ToleranceOf(type)};
}

}  // namespace hone::codegen
