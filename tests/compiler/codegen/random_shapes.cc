// Element by element, and what only moves elements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "tests/compiler/codegen/random_workload.h"

namespace hone::codegen {
namespace {

Shape AnyShape(Draw& draw) {
  const int rank = 1 + static_cast<int>(draw.Below(4));
  return draw.Extents(rank, rank == 4 ? 9 : rank == 3 ? 17 : 67);
}

void Elementwise(Draw& draw) {
  const Shape shape = AnyShape(draw);
  std::string value = draw.Param(shape);
  const int64_t steps = 1 + draw.Below(4);
  for (int64_t i = 0; i < steps; ++i) {
    if (draw.Once(3)) {
      const char* const op = draw.Of({"add", "subtract", "multiply", "maximum", "minimum"});
      value = draw.Let(fmt::format("{}({}, {})", op, value, draw.Param(shape)));
    } else {
      const char* const op = draw.Of({"nn.relu", "sigmoid", "tanh", "erf", "exp", "abs", "negative",
                                      "sin", "cos", "atan", "sign"});
      value = draw.Let(fmt::format("{}({})", op, value));
    }
  }
}

void Broadcast(Draw& draw) {
  const Shape shape = AnyShape(draw);
  Shape other = shape;
  for (int64_t& extent : other) {
    if (draw.Once(2)) extent = 1;
  }
  other.erase(other.begin(), other.begin() + draw.Below(std::ssize(other)));
  const char* const op = draw.Of({"add", "subtract", "multiply", "maximum", "minimum"});
  std::string a = draw.Param(shape), b = draw.Param(other, "float32", draw.Once(3));
  if (draw.Once(3)) std::swap(a, b);
  const std::string value = draw.Let(fmt::format("{}({}, {})", op, a, b));
  if (draw.Once(2)) draw.Let(fmt::format("nn.relu({})", value));
}

void Transpose(Draw& draw) {
  const int rank = 2 + static_cast<int>(draw.Below(3));
  Shape axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = axes.size(); i > 1; --i) {
    std::swap(axes[i - 1], axes[static_cast<size_t>(draw.Below(static_cast<int64_t>(i)))]);
  }
  const std::string type = draw.Of({"float32", "float32", "int32", "int8", "float64"});
  const std::string data = draw.Param(draw.Extents(rank, rank == 4 ? 13 : 37), type);
  const std::string value = draw.Let(fmt::format("transpose({}, axes={})", data, List(axes)));
  if (draw.Once(3)) draw.Let(fmt::format("add({0}, {0})", value));
}

void LayoutTransform(Draw& draw) {
  const std::string blocked = fmt::format("NCHW{}c", 4 << draw.Below(3));
  const bool back = draw.Once(2);
  const std::string data =
      draw.Param({1 + draw.Below(2), draw.Extent(), draw.Extent(17), draw.Extent(33)});
  draw.Let(fmt::format("layout_transform({}, dst_layout=\"{}\", src_layout=\"{}\")", data,
                       back ? "NCHW" : blocked, back ? blocked : "NCHW"));
}

void Gather(Draw& draw) {
  const int rank = 1 + static_cast<int>(draw.Below(3));
  const std::string data = draw.Param(draw.Extents(rank, 37));
  const std::string index = draw.Param(draw.Extents(1 + static_cast<int>(draw.Below(2)), 33),
                                       draw.Of({"int32", "int64"}));
  const std::string value =
      draw.Let(fmt::format("take({}, {}, axis={})", data, index, draw.Below(rank)));
  if (draw.Once(2)) draw.Let(fmt::format("nn.relu({})", value));
}

void Concatenate(Draw& draw) {
  const Shape shape = AnyShape(draw);
  const int64_t axis = draw.Below(std::ssize(shape));
  std::vector<std::string> parts;
  const int64_t count = 2 + draw.Below(3);
  for (int64_t i = 0; i < count; ++i) {
    Shape part = shape;
    part[static_cast<size_t>(axis)] = draw.Extent(37);
    parts.push_back(draw.Param(part));
    if (draw.Once(3)) parts.back() = draw.Let(fmt::format("nn.relu({})", parts.back()));
  }
  const std::string all = draw.Let(fmt::format("({})", fmt::join(parts, ", ")));
  draw.Let(fmt::format("concatenate({}, axis={})", all, axis));
}

void Slice(Draw& draw) {
  const Shape shape = AnyShape(draw);
  Shape axes, begin, end, strides;
  for (int64_t i = 0; i < std::ssize(shape); ++i) {
    const int64_t extent = shape[static_cast<size_t>(i)];
    axes.push_back(i);
    begin.push_back(draw.Below(extent));
    end.push_back(begin.back() + 1 + draw.Below(extent - begin.back()));
    strides.push_back(1 + draw.Below(3));
  }
  const std::string value =
      draw.Let(fmt::format("strided_slice({}, axes={}, begin={}, end={}, strides={})",
                           draw.Param(shape), List(axes), List(begin), List(end), List(strides)));
  if (draw.Once(2)) draw.Let(fmt::format("nn.relu({})", value));
}

void Pad(Draw& draw) {
  const Shape shape = AnyShape(draw);
  Shape widths;
  for (size_t i = 0; i < 2 * shape.size(); ++i) widths.push_back(draw.Below(4));
  const std::string mode = draw.Of({"constant", "constant", "edge"});
  const std::string value =
      draw.Let(fmt::format("nn.pad({}, pad_mode=\"{}\", pad_value=1.5, pad_width={})",
                           draw.Param(shape), mode, List(widths)));
  if (draw.Once(2)) draw.Let(fmt::format("nn.relu({})", value));
}

void Reshape(Draw& draw) {
  const Shape shape = {draw.Extent(17), draw.Extent(17), draw.Extent(17)};
  std::string value = draw.Param(shape);
  if (draw.Once(2)) value = draw.Let(fmt::format("nn.relu({})", value));
  const Shape flat = {shape[0] * shape[1], shape[2]};
  value = draw.Let(fmt::format("reshape({}, newshape={})", value, List(flat)));
  if (draw.Once(2)) draw.Let(fmt::format("add({}, {})", value, draw.Const({shape[2]})));
}

void Cast(Draw& draw) {
  const char* const from = draw.Of({"float32", "int32", "int8", "uint8", "bool", "int64"});
  const std::string value =
      draw.Let(fmt::format("cast({}, dtype=float32)", draw.Param(AnyShape(draw), from)));
  if (draw.Once(2)) draw.Let(fmt::format("multiply({}, 0.5f32)", value));
}

void Choice(Draw& draw) {
  const Shape shape = AnyShape(draw);
  const std::string a = draw.Param(shape, "int32"), b = draw.Param(shape, "int32");
  const std::string chosen = draw.Let(
      fmt::format("{}({}, {})", draw.Of({"less", "greater_equal", "equal", "not_equal"}), a, b));
  draw.Let(fmt::format("where({}, {}, {})", chosen, draw.Param(shape), draw.Param(shape)));
}

void Several(Draw& draw) {
  const Shape shape = AnyShape(draw);
  const std::string a = draw.Let(fmt::format("nn.relu({})", draw.Param(shape)));
  const std::string b = draw.Let(fmt::format("negative({})", a));
  draw.Let(fmt::format("({}, {})", a, b));
}

}  // namespace

std::vector<Family> ShapeFamilies() {
  return {{"elementwise", Elementwise, ""},
          {"broadcast", Broadcast, ""},
          {"transpose", Transpose, ""},
          {"layout_transform", LayoutTransform, ""},
          {"gather", Gather, ""},
          {"concatenate", Concatenate, ""},
          {"slice", Slice, ""},
          {"pad", Pad, ""},
          {"reshape", Reshape, ""},
          {"cast", Cast, ""},
          {"choice", Choice, ""},
          {"several_results", Several, ""}};
}

}  // namespace hone::codegen
