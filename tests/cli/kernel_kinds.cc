#include "tests/cli/kernel_kinds.h"

#include <map>
#include <ostream>

#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "gtest/gtest.h"
#include "measure_server/element.h"
#include "support/random.h"

namespace hone::cli {
namespace {

// Small floats of either sign as float32; a cast makes them what is wanted, before anything runs.
ir::Expr SeededFloats(const ir::TensorType& type, Random& random) {
  std::vector<float> values(static_cast<size_t>(type.ElementCount()));
  for (float& value : values) value = static_cast<float>(random.Uniform() - 0.5);
  const ir::Expr floats =
      ir::ConstantFromBytes({.shape = type.shape, .dtype = DataType::kFloat32}, values.data());
  if (type.dtype == DataType::kFloat32) return floats;
  return ir::Call("cast", {floats}, {{"dtype", type.dtype}});
}

// Weights of bytes, or indices.
ir::Expr SeededIntegers(const ir::TensorType& type, Random& random) {
  const int64_t count = type.ElementCount();
  std::string bytes(static_cast<size_t>(count * SizeBytes(type.dtype)), '\0');
  const int64_t low = type.dtype == DataType::kInt8 ? -4 : 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t drawn = low + static_cast<int64_t>(random.Below(9));
    measure::StoreElement(type.dtype, bytes.data(), i, static_cast<double>(drawn));
  }
  return ir::ConstantFromBytes(type, bytes.data());
}

}  // namespace

void PrintTo(const KernelKind& kind, std::ostream* out) { *out << kind.name; }

const std::vector<KernelKind>& KernelKinds() {
  static const auto* const kinds = new std::vector<KernelKind>{
      {"conv2d_3x3",
       "fn (p0: Tensor[(1, 32, 28, 28), float32], const p1: Tensor[(32, 32, 3, 3), float32]) { %0 "
       "= nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_1x3",
       "fn (p0: Tensor[(1, 64, 18, 18), float32], const p1: Tensor[(64, 64, 1, 3), float32]) { %0 "
       "= nn.conv2d(p0, p1, padding=[0, 1, 0, 1]); nn.relu(%0) }"},
      {"conv2d_3x3_odd_channels",
       "fn (p0: Tensor[(1, 17, 15, 15), float32], const p1: Tensor[(19, 17, 3, 3), float32]) { %0 "
       "= nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_3x3_strided",
       "fn (p0: Tensor[(1, 24, 29, 29), float32], const p1: Tensor[(40, 24, 3, 3), float32]) { %0 "
       "= nn.conv2d(p0, p1, padding=[1, 1, 1, 1], strides=[2, 2]); nn.relu(%0) }"},
      {"conv2d_3x3_dilated",
       "fn (p0: Tensor[(1, 32, 20, 20), float32], const p1: Tensor[(32, 32, 3, 3), float32]) { %0 "
       "= nn.conv2d(p0, p1, dilation=[2, 2], padding=[2, 2, 2, 2]); nn.relu(%0) }"},
      {"conv2d_5x5",
       "fn (p0: Tensor[(1, 16, 20, 20), float32], const p1: Tensor[(24, 16, 5, 5), float32]) { %0 "
       "= nn.conv2d(p0, p1, padding=[2, 2, 2, 2]); nn.relu(%0) }"},
      {"conv2d_1x7",
       "fn (p0: Tensor[(1, 32, 17, 17), float32], const p1: Tensor[(48, 32, 1, 7), float32]) { %0 "
       "= nn.conv2d(p0, p1, padding=[0, 3, 0, 3]); nn.relu(%0) }"},
      {"conv2d_7x7_stem",
       "fn (p0: Tensor[(1, 3, 64, 64), float32], const p1: Tensor[(32, 3, 7, 7), float32]) { %0 = "
       "nn.conv2d(p0, p1, padding=[3, 3, 3, 3], strides=[2, 2]); nn.relu(%0) }"},
      {"conv2d_1x1",
       "fn (p0: Tensor[(1, 48, 14, 14), float32], const p1: Tensor[(64, 48, 1, 1), float32]) { %0 "
       "= nn.conv2d(p0, p1); nn.relu(%0) }"},
      {"conv2d_1x1_strided",
       "fn (p0: Tensor[(1, 33, 14, 14), float32], const p1: Tensor[(65, 33, 1, 1), float32]) { %0 "
       "= nn.conv2d(p0, p1, strides=[2, 2]); nn.relu(%0) }"},
      {"conv2d_1x1_few_pixels",
       "fn (p0: Tensor[(1, 256, 1, 1), float32], const p1: Tensor[(64, 256, 1, 1), float32]) { %0 "
       "= nn.conv2d(p0, p1); nn.relu(%0) }"},
      {"conv2d_1x1_pixels",
       "fn (p0: Tensor[(1, 3, 64, 64), float32], const p1: Tensor[(2, 3, 1, 1), float32]) { %0 = "
       "nn.conv2d(p0, p1); nn.relu(%0) }"},
      {"conv2d_few_outputs",
       "fn (p0: Tensor[(1, 16, 32, 32), float32], const p1: Tensor[(3, 16, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_one_output",
       "fn (p0: Tensor[(1, 32, 30, 30), float32], const p1: Tensor[(1, 32, 5, 5), float32]) { %0 = "
       "nn.conv2d(p0, p1, padding=[2, 2, 2, 2]); sigmoid(%0) }"},
      {"conv2d_uneven_padding",
       "fn (p0: Tensor[(1, 20, 13, 18), float32], const p1: Tensor[(24, 20, 3, 3), float32]) { %0 "
       "= nn.conv2d(p0, p1, padding=[0, 1, 2, 1]); nn.relu(%0) }"},
      {"conv2d_of_a_batch",
       "fn (p0: Tensor[(5, 16, 9, 9), float32], const p1: Tensor[(16, 16, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_bias_add_relu",
       "fn (p0: Tensor[(1, 32, 14, 14), float32], const p1: Tensor[(32, 32, 3, 3), float32], const "
       "p2: Tensor[(32,), float32], p3: Tensor[(1, 32, 14, 14), float32]) { %0 = nn.conv2d(p0, p1, "
       "padding=[1, 1, 1, 1]); %1 = nn.bias_add(%0, p2, axis=1); %2 = add(%1, p3); nn.relu(%2) }"},
      {"conv2d_weights_vary",
       "fn (p0: Tensor[(1, 16, 14, 14), float32], p1: Tensor[(16, 16, 3, 3), float32]) { "
       "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }"},
      {"conv2d_grouped",
       "fn (p0: Tensor[(1, 64, 14, 14), float32], const p1: Tensor[(64, 16, 3, 3), float32]) { %0 "
       "= nn.conv2d(p0, p1, groups=4, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_grouped_odd",
       "fn (p0: Tensor[(1, 21, 11, 11), float32], const p1: Tensor[(35, 3, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1, groups=7, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_grouped_narrow",
       "fn (p0: Tensor[(1, 32, 28, 28), float32], const p1: Tensor[(32, 4, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1, groups=8, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_depthwise",
       "fn (p0: Tensor[(1, 32, 28, 28), float32], const p1: Tensor[(32, 1, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1, groups=32, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_depthwise_odd",
       "fn (p0: Tensor[(1, 19, 13, 13), float32], const p1: Tensor[(19, 1, 5, 5), float32]) { %0 = "
       "nn.conv2d(p0, p1, groups=19, padding=[2, 2, 2, 2]); nn.relu(%0) }"},
      {"conv2d_depthwise_strided",
       "fn (p0: Tensor[(1, 48, 28, 28), float32], const p1: Tensor[(48, 1, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1, groups=48, padding=[1, 1, 1, 1], strides=[2, 2]); nn.relu(%0) }"},
      {"conv2d_depthwise_multiplier",
       "fn (p0: Tensor[(1, 12, 16, 16), float32], const p1: Tensor[(24, 1, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1, groups=12, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_depthwise_large",
       "fn (p0: Tensor[(1, 16, 20, 20), float32], const p1: Tensor[(16, 1, 15, 15), float32]) { %0 "
       "= nn.conv2d(p0, p1, groups=16, padding=[7, 7, 7, 7]); nn.relu(%0) }"},
      {"depthwise_then_pointwise",
       "fn (p0: Tensor[(1, 32, 14, 14), float32], const p1: Tensor[(32, 1, 3, 3), float32], const "
       "p2: Tensor[(64, 32, 1, 1), float32]) { %0 = nn.conv2d(p0, p1, groups=32, padding=[1, 1, 1, "
       "1]); %1 = nn.relu(%0); %2 = nn.conv2d(%1, p2); nn.relu(%2) }"},
      {"conv1d",
       "fn (p0: Tensor[(1, 32, 100), float32], const p1: Tensor[(48, 32, 5), float32]) { %0 = "
       "nn.conv1d(p0, p1, padding=[2, 2]); nn.relu(%0) }"},
      {"conv1d_odd",
       "fn (p0: Tensor[(2, 5, 67), float32], const p1: Tensor[(7, 5, 3), float32]) { %0 = "
       "nn.conv1d(p0, p1, padding=[1, 1]); nn.relu(%0) }"},
      {"conv1d_strided",
       "fn (p0: Tensor[(1, 1, 400), float32], const p1: Tensor[(32, 1, 10), float32]) { %0 = "
       "nn.conv1d(p0, p1, strides=[5]); nn.relu(%0) }"},
      {"conv1d_dilated",
       "fn (p0: Tensor[(1, 24, 80), float32], const p1: Tensor[(24, 24, 3), float32]) { %0 = "
       "nn.conv1d(p0, p1, dilation=[4], padding=[4, 4]); nn.relu(%0) }"},
      {"conv1d_depthwise",
       "fn (p0: Tensor[(1, 40, 64), float32], const p1: Tensor[(40, 1, 7), float32]) { %0 = "
       "nn.conv1d(p0, p1, groups=40, padding=[3, 3]); nn.relu(%0) }"},
      {"conv1d_grouped",
       "fn (p0: Tensor[(1, 32, 64), float32], const p1: Tensor[(32, 8, 3), float32]) { %0 = "
       "nn.conv1d(p0, p1, groups=4, padding=[1, 1]); nn.relu(%0) }"},
      {"conv3d",
       "fn (p0: Tensor[(1, 16, 8, 12, 12), float32], const p1: Tensor[(16, 16, 3, 3, 3), float32]) "
       "{ %0 = nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv3d_odd",
       "fn (p0: Tensor[(1, 3, 6, 11, 11), float32], const p1: Tensor[(5, 3, 3, 3, 3), float32]) { "
       "%0 = nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv3d_strided",
       "fn (p0: Tensor[(1, 8, 9, 9, 9), float32], const p1: Tensor[(24, 8, 3, 3, 3), float32]) { "
       "%0 = nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1], strides=[2, 2, 2]); nn.relu(%0) }"},
      {"conv3d_depthwise",
       "fn (p0: Tensor[(1, 16, 6, 8, 8), float32], const p1: Tensor[(16, 1, 3, 3, 3), float32]) { "
       "%0 = nn.conv3d(p0, p1, groups=16, padding=[1, 1, 1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv1d_transposed",
       "fn (p0: Tensor[(1, 16, 40), float32], const p1: Tensor[(16, 8, 4), float32]) { %0 = "
       "nn.conv1d_transpose(p0, p1, padding=[1, 1], strides=[2]); nn.relu(%0) }"},
      {"conv2d_transposed",
       "fn (p0: Tensor[(1, 64, 8, 8), float32], const p1: Tensor[(64, 32, 4, 4), float32]) { %0 = "
       "nn.conv2d_transpose(p0, p1, padding=[1, 1, 1, 1], strides=[2, 2]); nn.relu(%0) }"},
      {"conv2d_transposed_few_outputs",
       "fn (p0: Tensor[(1, 32, 16, 16), float32], const p1: Tensor[(32, 3, 4, 4), float32]) { %0 = "
       "nn.conv2d_transpose(p0, p1, padding=[1, 1, 1, 1], strides=[2, 2]); tanh(%0) }"},
      {"conv2d_transposed_odd",
       "fn (p0: Tensor[(1, 13, 9, 9), float32], const p1: Tensor[(13, 7, 3, 3), float32]) { %0 = "
       "nn.conv2d_transpose(p0, p1, output_padding=[1, 1], padding=[1, 1, 1, 1], strides=[2, 2]); "
       "nn.relu(%0) }"},
      {"conv2d_transposed_of_one_step",
       "fn (p0: Tensor[(1, 16, 9, 9), float32], const p1: Tensor[(16, 16, 3, 3), float32]) { %0 = "
       "nn.conv2d_transpose(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_transposed_grouped",
       "fn (p0: Tensor[(1, 32, 7, 7), float32], const p1: Tensor[(32, 4, 4, 4), float32]) { %0 = "
       "nn.conv2d_transpose(p0, p1, groups=4, padding=[1, 1, 1, 1], strides=[2, 2]); nn.relu(%0) "
       "}"},
      {"conv2d_transposed_depthwise",
       "fn (p0: Tensor[(1, 16, 12, 12), float32], const p1: Tensor[(16, 1, 4, 4), float32]) { %0 = "
       "nn.conv2d_transpose(p0, p1, groups=16, padding=[1, 1, 1, 1], strides=[2, 2]); nn.relu(%0) "
       "}"},
      {"conv3d_transposed",
       "fn (p0: Tensor[(1, 8, 4, 6, 6), float32], const p1: Tensor[(8, 4, 2, 2, 2), float32]) { %0 "
       "= nn.conv3d_transpose(p0, p1, strides=[2, 2, 2]); nn.relu(%0) }"},
      {"conv2d_float16",
       "fn (p0: Tensor[(1, 16, 14, 14), float16], const p1: Tensor[(32, 16, 3, 3), float16]) { %0 "
       "= nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_bfloat16",
       "fn (p0: Tensor[(1, 16, 14, 14), bfloat16], const p1: Tensor[(32, 16, 3, 3), bfloat16]) { "
       "%0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_float64",
       "fn (p0: Tensor[(1, 8, 10, 10), float64], const p1: Tensor[(12, 8, 3, 3), float64]) { %0 = "
       "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }"},
      {"conv2d_bytes",
       "fn (p0: Tensor[(1, 32, 14, 14), uint8], const p1: Tensor[(32, 32, 3, 3), int8]) { %0 = "
       "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); qnn.requantize(%0, 0.01f32, 3u8) }"},
      {"conv2d_bytes_odd",
       "fn (p0: Tensor[(1, 13, 11, 11), uint8], const p1: Tensor[(9, 13, 3, 3), int8]) { %0 = "
       "nn.conv2d(p0, p1, pad_value=9, padding=[1, 1, 1, 1]); qnn.requantize(%0, 0.01f32, 3u8) }"},
      {"conv2d_bytes_signed",
       "fn (p0: Tensor[(1, 16, 12, 12), int8], const p1: Tensor[(24, 16, 1, 1), int8]) { %0 = "
       "nn.conv2d(p0, p1); qnn.requantize(%0, 0.01f32, 3u8) }"},
      {"conv2d_bytes_depthwise",
       "fn (p0: Tensor[(1, 24, 14, 14), uint8], const p1: Tensor[(24, 1, 3, 3), int8]) { %0 = "
       "nn.conv2d(p0, p1, groups=24, padding=[1, 1, 1, 1]); qnn.requantize(%0, 0.01f32, 3u8) }"},
      {"conv2d_bytes_grouped",
       "fn (p0: Tensor[(1, 32, 10, 10), uint8], const p1: Tensor[(32, 8, 3, 3), int8]) { %0 = "
       "nn.conv2d(p0, p1, groups=4, padding=[1, 1, 1, 1]); qnn.requantize(%0, 0.01f32, 3u8) }"},
      {"conv1d_bytes",
       "fn (p0: Tensor[(1, 16, 50), uint8], const p1: Tensor[(16, 16, 3), int8]) { %0 = "
       "nn.conv1d(p0, p1, padding=[1, 1]); qnn.requantize(%0, 0.01f32, 3u8) }"},
      {"conv3d_bytes",
       "fn (p0: Tensor[(1, 8, 5, 7, 7), uint8], const p1: Tensor[(8, 8, 3, 3, 3), int8]) { %0 = "
       "nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]); qnn.requantize(%0, 0.01f32, 3u8) }"},
      {"max_pool1d",
       "fn (p0: Tensor[(1, 24, 60), float32]) { nn.max_pool1d(p0, pool_size=[3], strides=[2]) }"},
      {"max_pool2d",
       "fn (p0: Tensor[(1, 32, 28, 28), float32]) { nn.max_pool2d(p0, padding=[1, 1, 1, 1], "
       "pool_size=[3, 3], strides=[2, 2]) }"},
      {"avg_pool2d_odd",
       "fn (p0: Tensor[(1, 19, 15, 15), float32]) { nn.avg_pool2d(p0, padding=[1, 1, 1, 1], "
       "pool_size=[3, 3], strides=[1, 1]) }"},
      {"max_pool3d",
       "fn (p0: Tensor[(1, 8, 8, 8, 8), float32]) { nn.max_pool3d(p0, pool_size=[2, 2, 2], "
       "strides=[2, 2, 2]) }"},
      {"max_pool2d_bytes",
       "fn (p0: Tensor[(1, 32, 14, 14), uint8]) { nn.max_pool2d(p0, pool_size=[2, 2], strides=[2, "
       "2]) }"},
      {"global_avg_pool2d", "fn (p0: Tensor[(1, 64, 7, 7), float32]) { nn.global_avg_pool2d(p0) }"},
      {"dense",
       "fn (p0: Tensor[(32, 128), float32], const p1: Tensor[(64, 128), float32]) { %0 = "
       "nn.dense(p0, p1); nn.relu(%0) }"},
      {"dense_odd",
       "fn (p0: Tensor[(7, 29), float32], const p1: Tensor[(13, 29), float32]) { %0 = nn.dense(p0, "
       "p1); nn.relu(%0) }"},
      {"dense_of_one_row",
       "fn (p0: Tensor[(1, 512), float32], const p1: Tensor[(256, 512), float32]) { %0 = "
       "nn.dense(p0, p1); nn.relu(%0) }"},
      {"dense_of_one_row_odd",
       "fn (p0: Tensor[(1, 101), float32], const p1: Tensor[(37, 101), float32]) { %0 = "
       "nn.dense(p0, p1); nn.relu(%0) }"},
      {"dense_weights_vary",
       "fn (p0: Tensor[(8, 96), float32], p1: Tensor[(48, 96), float32]) { %0 = nn.dense(p0, p1); "
       "nn.relu(%0) }"},
      {"dense_long_sums",
       "fn (p0: Tensor[(4, 3000), float32], const p1: Tensor[(64, 3000), float32]) { %0 = "
       "nn.dense(p0, p1); nn.relu(%0) }"},
      {"dense_one_unit",
       "fn (p0: Tensor[(16, 64), float32], const p1: Tensor[(1, 64), float32]) { %0 = nn.dense(p0, "
       "p1); sigmoid(%0) }"},
      {"dense_float16",
       "fn (p0: Tensor[(8, 64), float16], const p1: Tensor[(32, 64), float16]) { %0 = nn.dense(p0, "
       "p1); nn.relu(%0) }"},
      {"dense_bfloat16",
       "fn (p0: Tensor[(8, 64), bfloat16], const p1: Tensor[(32, 64), bfloat16]) { %0 = "
       "nn.dense(p0, p1); nn.relu(%0) }"},
      {"dense_float64",
       "fn (p0: Tensor[(8, 40), float64], const p1: Tensor[(24, 40), float64]) { %0 = nn.dense(p0, "
       "p1); nn.relu(%0) }"},
      {"dense_gelu",
       "fn (p0: Tensor[(16, 64), float32], const p1: Tensor[(96, 64), float32], const p2: "
       "Tensor[(96,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); %2 = multiply(%1, "
       "0.70710678f32); %3 = erf(%2); %4 = multiply(%1, 0.5f32); %5 = add(%3, 1f32); multiply(%4, "
       "%5) }"},
      {"dense_bytes",
       "fn (p0: Tensor[(16, 64), uint8], const p1: Tensor[(48, 64), int8]) { %0 = nn.dense(p0, "
       "p1); qnn.requantize(%0, 0.01f32, 3u8) }"},
      {"dense_bytes_weights_vary",
       "fn (p0: Tensor[(5, 33), int8], p1: Tensor[(19, 33), int8]) { nn.dense(p0, p1) }"},
      {"dense_sparse",
       "fn (p0: Tensor[(24, 96), float32], const p1: Tensor[(80, 96), float32]) { %0 = greater(p1, "
       "0.45f32); %1 = cast(%0, dtype=float32); %2 = multiply(p1, %1); nn.dense(p0, %2) }"},
      {"batch_matmul",
       "fn (p0: Tensor[(4, 24, 32), float32], p1: Tensor[(4, 40, 32), float32]) { "
       "nn.batch_matmul(p0, p1) }"},
      {"batch_matmul_transposed",
       "fn (p0: Tensor[(3, 17, 24), float32], p1: Tensor[(3, 24, 21), float32]) { %0 = "
       "transpose(p1, axes=[0, 2, 1]); nn.batch_matmul(p0, %0) }"},
      {"batch_matmul_bytes",
       "fn (p0: Tensor[(2, 16, 32), uint8], p1: Tensor[(2, 16, 32), int8]) { nn.batch_matmul(p0, "
       "p1) }"},
      {"attention",
       "fn (p0: Tensor[(4, 32, 16), float32], p1: Tensor[(4, 32, 16), float32], p2: Tensor[(4, 16, "
       "32), float32]) { %0 = nn.batch_matmul(p0, p1); %1 = multiply(%0, 0.25f32); %2 = "
       "nn.softmax(%1, axis=-1); nn.batch_matmul(%2, p2) }"},
      {"attention_masked",
       "fn (p0: Tensor[(4, 19, 16), float32], p1: Tensor[(4, 23, 16), float32], p2: Tensor[(1, 1, "
       "23), float32], p3: Tensor[(4, 16, 23), float32]) { %0 = nn.batch_matmul(p0, p1); %1 = "
       "add(%0, p2); %2 = nn.softmax(%1, axis=-1); nn.batch_matmul(%2, p3) }"},
      {"lstm_cell",
       "fn (p0: Tensor[(2, 4, 32), float32], p1: Tensor[(2, 32), float32], p2: Tensor[(2, 32), "
       "float32], const p3: Tensor[(4, 32, 32), float32]) { nn.lstm_cell(p0, p1, p2, p3) }"},
      {"lstm_cell_odd",
       "fn (p0: Tensor[(1, 4, 19), float32], p1: Tensor[(1, 19), float32], p2: Tensor[(1, 19), "
       "float32], const p3: Tensor[(4, 19, 19), float32]) { nn.lstm_cell(p0, p1, p2, p3) }"},
      {"gru_cell",
       "fn (p0: Tensor[(2, 3, 32), float32], p1: Tensor[(2, 32), float32], const p2: Tensor[(3, "
       "32, 32), float32]) { nn.gru_cell(p0, p1, p2) }"},
      {"gru_gates",
       "fn (p0: Tensor[(2, 2, 24), float32], p1: Tensor[(2, 24), float32], const p2: Tensor[(2, "
       "24, 24), float32]) { nn.gru_gates(p0, p1, p2) }"},
      {"softmax", "fn (p0: Tensor[(32, 100), float32]) { nn.softmax(p0, axis=-1) }"},
      {"log_softmax_odd", "fn (p0: Tensor[(7, 33), float32]) { nn.log_softmax(p0, axis=-1) }"},
      {"softmax_of_channels",
       "fn (p0: Tensor[(1, 19, 12, 12), float32]) { nn.softmax(p0, axis=1) }"},
      {"layer_norm",
       "fn (p0: Tensor[(16, 96), float32], const p1: Tensor[(96,), float32], const p2: "
       "Tensor[(96,), float32]) { nn.layer_norm(p0, p1, p2, axis=[1]) }"},
      {"instance_norm",
       "fn (p0: Tensor[(1, 16, 12, 12), float32], const p1: Tensor[(16, 1, 1), float32], const p2: "
       "Tensor[(16, 1, 1), float32]) { %0 = nn.layer_norm(p0, axis=[2, 3]); %1 = multiply(%0, p1); "
       "add(%1, p2) }"},
      {"sum_of_rows", "fn (p0: Tensor[(40, 70), float32]) { sum(p0, axis=[1], keepdims=false) }"},
      {"mean_of_all",
       "fn (p0: Tensor[(64, 1000), float32]) { mean(p0, axis=[0, 1], keepdims=false) }"},
      {"max_of_columns", "fn (p0: Tensor[(50, 60), float32]) { max(p0, axis=[0], keepdims=true) }"},
      {"prod_of_rows_odd",
       "fn (p0: Tensor[(13, 17), float32]) { prod(p0, axis=[1], keepdims=false) }"},
      {"argmax", "fn (p0: Tensor[(20, 50), float32]) { argmax(p0, axis=1, keepdims=false) }"},
      {"argmin_of_columns",
       "fn (p0: Tensor[(50, 20), float32]) { argmin(p0, axis=0, keepdims=false) }"},
      {"sum_of_int64", "fn (p0: Tensor[(20, 50), int64]) { sum(p0, axis=[1], keepdims=false) }"},
      {"elementwise",
       "fn (p0: Tensor[(40, 50), float32], p1: Tensor[(40, 50), float32]) { %0 = add(p0, p1); %1 = "
       "tanh(%0); multiply(%1, p0) }"},
      {"broadcast",
       "fn (p0: Tensor[(16, 1, 33), float32], p1: Tensor[(7, 1), float32]) { %0 = multiply(p0, "
       "p1); exp(%0) }"},
      {"transpose", "fn (p0: Tensor[(24, 31, 17), float32]) { transpose(p0, axes=[2, 0, 1]) }"},
      {"transpose_of_bytes", "fn (p0: Tensor[(64, 48), int8]) { transpose(p0, axes=[1, 0]) }"},
      {"concatenate",
       "fn (p0: Tensor[(8, 5, 9), float32], p1: Tensor[(8, 12, 9), float32]) { %0 = (p0, p1); "
       "concatenate(%0, axis=1) }"},
      {"strided_slice",
       "fn (p0: Tensor[(20, 30), float32]) { %0 = strided_slice(p0, axes=[0, 1], begin=[1, 2], "
       "end=[19, 29], strides=[2, 3]); nn.relu(%0) }"},
      {"pad_reflected",
       "fn (p0: Tensor[(6, 20, 20), float32]) { nn.pad(p0, pad_mode=\"reflect\", pad_value=0.0, "
       "pad_width=[0, 2, 3, 0, 1, 2]) }"},
      {"take",
       "fn (p0: Tensor[(50, 16), float32], const p1: Tensor[(9,), int64]) { take(p0, p1, axis=0) "
       "}"},
      {"cumsum", "fn (p0: Tensor[(12, 40), float32]) { cumsum(p0, axis=1) }"},
      {"topk",
       "fn (p0: Tensor[(6, 40), float32]) { %0 = topk(p0, axis=1, k=5, largest=true); %0.0 }"},
      {"lrn",
       "fn (p0: Tensor[(1, 24, 10, 10), float32]) { nn.lrn(p0, alpha=0.0001, axis=1, beta=0.75, "
       "bias=1.0, size=5) }"},
      {"one_hot",
       "fn (p0: Tensor[(30,), int64], const p1: Tensor[(2,), float32]) { one_hot(p0, p1, depth=17) "
       "}"},
      {"where",
       "fn (p0: Tensor[(30, 20), int32], p1: Tensor[(30, 20), int32], p2: Tensor[(30, 20), "
       "float32], p3: Tensor[(30, 20), float32]) { %0 = less(p0, p1); where(%0, p2, p3) }"},
      {"cast_of_bytes",
       "fn (p0: Tensor[(30, 50), uint8]) { %0 = cast(p0, dtype=float32); multiply(%0, 0.0039f32) "
       "}"},
      {"quantize",
       "fn (p0: Tensor[(30, 50), float32]) { %0 = sigmoid(p0); qnn.quantize(%0, 0.01f32, 7u8) }"},
      {"elementwise_uint16",
       "fn (p0: Tensor[(33, 31), uint16], p1: Tensor[(33, 31), uint16]) { %0 = multiply(p0, p1); "
       "maximum(%0, p0) }"},
      {"elementwise_uint64",
       "fn (p0: Tensor[(33, 31), uint64], p1: Tensor[(33, 31), uint64]) { %0 = add(p0, p1); "
       "minimum(%0, p0) }"},
      {"two_results",
       "fn (p0: Tensor[(25, 40), float32]) { %0 = nn.relu(p0); %1 = negative(%0); (%0, %1) }"},
      {"elementwise_float16",
       "fn (p0: Tensor[(33, 31), float16], p1: Tensor[(33, 31), float16]) { %0 = add(p0, p1); "
       "nn.relu(%0) }"},
      {"elementwise_int32",
       "fn (p0: Tensor[(33, 31), int32], p1: Tensor[(33, 31), int32]) { %0 = multiply(p0, p1); "
       "maximum(%0, p0) }"},
  };
  return *kinds;
}

std::string ModelOf(const KernelKind& kind) {
  const absl::StatusOr<ir::FunctionText> text = ir::ParseFunctionText(kind.function);
  if (!text.ok()) {
    ADD_FAILURE() << kind.name << ": " << text.status();
    return "";
  }
  Random random(11);
  std::vector<ir::Expr> params;
  std::map<const ir::ExprNode*, ir::Expr> constants;
  const std::vector<ir::Expr> all = ir::Params(*text->function);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!text->const_params[i]) {
      params.push_back(all[i]);
      continue;
    }
    const ir::TensorType& type = all[i]->type->tensor;
    constants[all[i].get()] =
        IsFloat(type.dtype) ? SeededFloats(type, random) : SeededIntegers(type, random);
  }
  const ir::Expr body = ir::Rewrite(text->function->args.back(), [&](const ir::Expr& node) {
    const auto constant = constants.find(node.get());
    return constant == constants.end() ? node : constant->second;
  });
  return ir::ToText(ir::Module{{{"main", ir::Function(params, body)}}});
}

}  // namespace hone::cli
