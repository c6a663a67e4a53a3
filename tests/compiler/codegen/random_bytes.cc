// Products of 8-bit integers of every signedness, and kernels of quantised graphs.
#include <fmt/format.h>

#include "tests/compiler/codegen/random_workload.h"

namespace hone::codegen {
namespace {

std::string Byte(Draw& draw) { return draw.Of({"uint8", "int8"}); }

void Requantize(Draw& draw, const std::string& sums, const Shape& shape, size_t axis) {
  std::string value = sums;
  if (draw.Once(3)) return;
  if (draw.Once(2)) {
    Shape channel(shape.size() - axis, 1);
    channel[0] = shape[axis];
    value = draw.Let(fmt::format("add({}, {})", value, draw.Const(channel, "int32")));
  }
  draw.Let(fmt::format("qnn.requantize({}, 0.01f32, {})", value, draw.Of({"3u8", "-3i8", "0i8"})));
}

void BytesConv(Draw& draw, int64_t taps, int64_t in, int64_t out, int64_t groups) {
  const int64_t n = 1 + draw.Below(2), stride = 1 + draw.Below(2), pad = draw.Below(taps);
  const int64_t h = taps + draw.Extent(13) - 1, w = taps + draw.Extent(13) - 1;
  const std::string data = draw.Param({n, in * groups, h, w}, Byte(draw));
  const std::string weight = draw.Const({out * groups, in, taps, taps}, Byte(draw));
  const std::string sums = draw.Let(fmt::format(
      "nn.conv2d({0}, {1}, groups={2}, pad_value={3}, padding=[{4}, {4}, {4}, {4}], strides=[{5}, "
      "{5}])",
      data, weight, groups, draw.Once(2) ? 0 : 9, pad, stride));
  const auto result = [&](int64_t extent) { return (extent + 2 * pad - taps) / stride + 1; };
  Requantize(draw, sums, {n, out * groups, result(h), result(w)}, 1);
}

void Conv2d(Draw& draw) { BytesConv(draw, 1 + draw.Below(3), draw.Extent(), draw.Extent(), 1); }
void BytesDepthwise(Draw& draw) { BytesConv(draw, 1 + draw.Below(5), 1, 1, draw.Extent()); }
void BytesGrouped(Draw& draw) {
  BytesConv(draw, 1 + draw.Below(3), draw.Extent(20), draw.Extent(20), 2 + draw.Below(3));
}

void BytesDense(Draw& draw) {
  const int64_t m = draw.Extent(), n = draw.Extent(), k = draw.Extent();
  const std::string data = draw.Param({m, k}, Byte(draw));
  const std::string weight = draw.Param({n, k}, Byte(draw), !draw.Once(3));
  Requantize(draw, draw.Let(fmt::format("nn.dense({}, {})", data, weight)), {m, n}, 1);
}

void BytesBatchMatmul(Draw& draw) {
  const int64_t b = 1 + draw.Below(3), m = draw.Extent(), n = draw.Extent(), k = draw.Extent();
  const std::string left = draw.Param({b, m, k}, Byte(draw));
  const std::string right = draw.Param({b, n, k}, Byte(draw), draw.Once(3));
  Requantize(draw, draw.Let(fmt::format("nn.batch_matmul({}, {})", left, right)), {b, m, n}, 2);
}

// Out of bytes, and back.
void Quantised(Draw& draw) {
  const Shape shape = draw.Extents(3, 17);
  const bool is_signed = draw.Once(2);
  const std::string data = draw.Param(shape, is_signed ? "int8" : "uint8");
  std::string value =
      draw.Let(fmt::format("qnn.dequantize({}, 0.05f32, {})", data, is_signed ? "-3i8" : "128u8"));
  if (draw.Once(2)) value = draw.Let(fmt::format("{}({})", draw.Of({"sigmoid", "nn.relu"}), value));
  if (draw.Once(4)) return;
  draw.Let(fmt::format("qnn.quantize({}, 0.02f32, {})", value, draw.Of({"7u8", "0i8"})));
}

void BytesPool(Draw& draw) {
  const std::string data =
      draw.Param({1, draw.Extent(), 2 + draw.Extent(17), 2 + draw.Extent(17)}, Byte(draw));
  draw.Let(fmt::format("nn.max_pool2d({}, padding=[1, 1, 1, 1], pool_size=[3, 3], strides=[2, 2])",
                       data));
}

}  // namespace

std::vector<Family> ByteFamilies() {
  return {{"bytes_conv2d", Conv2d, ""},
          {"bytes_depthwise", BytesDepthwise, ""},
          {"bytes_conv2d_grouped", BytesGrouped, ""},
          {"bytes_dense", BytesDense, ""},
          {"bytes_batch_matmul", BytesBatchMatmul, ""},
          {"bytes_elementwise", Quantised, ""},
          {"bytes_pool", BytesPool, ""}};
}

}  // namespace hone::codegen
