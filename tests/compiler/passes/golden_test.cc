// One golden file a pass: the graph before, and after.
#include <gtest/gtest.h>

#include "compiler/ir/printer.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

constexpr const char* kConvBlock = R"(
def @main(%data: Tensor[(1, 3, 8, 8), float32], %weight: Tensor[(32, 3, 3, 3), float32],
          %gamma: Tensor[(32), float32], %beta: Tensor[(32), float32],
          %mean: Tensor[(32), float32], %var: Tensor[(32), float32]) {
  %0 = nn.conv2d(%data, %weight, strides=[2, 2], padding=[1, 1, 1, 1]);
  %1 = nn.batch_norm(%0, %gamma, %beta, %mean, %var, epsilon=1e-05);
  %2 = nn.dropout(%1, rate=0.5);
  nn.relu(%2)
})";

constexpr const char* kBias = R"(
def @main(%data: Tensor[(1, 3, 8, 8), float32], %bias: Tensor[(3), float32],
          %row: Tensor[(8), float32]) {
  %0 = nn.bias_add(%data, %bias);
  %1 = nn.bias_add(%0, %row, axis=-1);
  multiply(2.0f32, %1)
})";

constexpr const char* kOnePixel = R"(
def @main(%x: Tensor[(2, 2, 1, 1), float32]) {
  %0 = nn.conv2d_transpose(%x, meta[Constant][0], strides=[2, 2]);
  nn.relu(%0)
}
meta[Constant][0] = Tensor[(2, 3, 2, 2), float32] "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEEAABBBAAAgQQAAMEEAAEBBAABQQQAAYEEAAHBBAACAQQAAiEEAAJBBAACYQQAAoEEAAKhBAACwQQAAuEEAAMBB";)";

constexpr const char* kPads = R"(
def @main(%data: Tensor[(1, 3, 8, 8), float32], %weight: Tensor[(4, 3, 3, 3), float32]) {
  %0 = nn.pad(%data, pad_width=[0, 0, 0, 0, 1, 0, 1, 0], pad_value=0.0);
  %1 = nn.conv2d(%0, %weight, strides=[2, 2], padding=[0, 1, 0, 1]);
  %2 = nn.pad(nn.relu(%1), pad_width=[0, 0, 0, 0, 1, 1, 1, 1]);
  nn.max_pool2d(%2, pool_size=[3, 3], strides=[2, 2])
})";

// A convolution with bias and relu in QDQ form, and a maximum behind it.
constexpr const char* kQuantized = R"(
def @main(%x: Tensor[(1, 4, 4, 4), uint8]) {
  %0 = qnn.dequantize(%x, 0.5f32, 3u8);
  %1 = qnn.dequantize(meta[Constant][0], meta[Constant][1], meta[Constant][2], axis=0);
  %2 = nn.conv2d(%0, %1);
  %3 = qnn.dequantize(meta[Constant][3], meta[Constant][4], 0i32, axis=0);
  %4 = nn.bias_add(%2, %3);
  %5 = nn.relu(%4);
  %6 = qnn.quantize(%5, 0.125f32, 7u8);
  %7 = qnn.dequantize(%6, 0.125f32, 7u8);
  %8 = nn.max_pool2d(%7, pool_size=[2, 2], strides=[2, 2]);
  qnn.quantize(%8, 0.125f32, 7u8)
}
meta[Constant][0] = Tensor[(2, 4, 1, 1), int8] "AQIDBAUGBwg=";
meta[Constant][1] = Tensor[(2), float32] "AACAPgAAAD8=";
meta[Constant][2] = Tensor[(2), int8] "AAA=";
meta[Constant][3] = Tensor[(2), int32] "AQAAAAIAAAA=";
meta[Constant][4] = Tensor[(2), float32] "AAAAPgAAgD4=";)";

// A residual sum with relu, a sum with one number a channel in front, a product, a mean.
constexpr const char* kQuantizedArithmetic = R"(
def @main(%x: Tensor[(1, 4, 4, 4), uint8], %y: Tensor[(1, 4, 4, 4), uint8],
          %z: Tensor[(1, 4, 1, 1), uint8]) {
  %0 = qnn.dequantize(%x, 0.5f32, 3u8);
  %1 = add(%0, qnn.dequantize(%y, 0.25f32, 5u8));
  %2 = qnn.quantize(nn.relu(%1), 1.0f32, 7u8);
  %3 = qnn.dequantize(%z, 0.125f32, 9u8);
  %4 = qnn.quantize(add(%3, qnn.dequantize(%2, 1.0f32, 7u8)), 2.0f32, 11u8);
  %5 = qnn.dequantize(%4, 2.0f32, 11u8);
  %6 = qnn.quantize(multiply(%0, %5), 4.0f32, 1u8);
  qnn.quantize(nn.global_avg_pool2d(qnn.dequantize(%6, 4.0f32, 1u8)), 0.5f32, 2u8)
})";

// A padded convolution of int8 by weights with a zero point, and the bias behind it.
constexpr const char* kZeroPoints = R"(
def @main(%x: Tensor[(1, 4, 4, 4), int8]) {
  %0 = qnn.conv2d(%x, meta[Constant][0], -3i8, 2i8, padding=[1, 1, 1, 1]);
  %1 = nn.bias_add(%0, meta[Constant][1]);
  qnn.requantize(%1, 0.5f32, 7i8)
}
meta[Constant][0] = Tensor[(2, 4, 1, 1), int8] "AQIDBAUGBwg=";
meta[Constant][1] = Tensor[(2), int32] "AQAAAAIAAAA=";)";

constexpr const char* kTwins = R"(
def @main(%x: Tensor[(4), float32]) {
  %0 = nn.relu(%x);
  %1 = add(%0, 1.0f32);
  %2 = nn.relu(%x);
  %3 = add(%2, 1.0f32);
  %4 = add(%2, 2.0f32);
  %5 = multiply(%1, %3);
  multiply(%5, %4)
})";

constexpr const char* kConstants = R"(
def @main(%x: Tensor[(2), float32]) {
  %0 = add(meta[Constant][0], 1.5f32);
  %1 = multiply(%0, %0);
  %2 = (%x, %1);
  add(%2.0, %2.1)
}
meta[Constant][0] = Tensor[(2), float32] "AACAPwAAAEA=";)";

// conv weights 1, 2; scale 2, 4; bias 1, 2 before and after.
constexpr const char* kScales = R"(
def @main(%x: Tensor[(1, 1, 2, 2), float32]) {
  %0 = nn.conv2d(%x, meta[Constant][0]);
  %1 = add(%0, meta[Constant][2]);
  %2 = multiply(%1, meta[Constant][1]);
  %3 = add(%2, meta[Constant][2]);
  nn.relu(%3)
}
meta[Constant][0] = Tensor[(2, 1, 1, 1), float32] "AACAPwAAAEA=";
meta[Constant][1] = Tensor[(2, 1, 1), float32] "AAAAQAAAgEA=";
meta[Constant][2] = Tensor[(2, 1, 1), float32] "AACAPwAAAEA=";)";

// Behind an add of two convolutions, relu and a pool; the factors are 2, 4.
constexpr const char* kScalesBehind = R"(
def @main(%x: Tensor[(1, 1, 2, 2), float32]) {
  %0 = nn.conv2d(%x, meta[Constant][0]);
  %1 = nn.conv2d(%x, meta[Constant][0]);
  %2 = nn.relu(add(%0, %1));
  %3 = nn.max_pool2d(%2, pool_size=[2, 2]);
  multiply(%3, meta[Constant][1])
}
meta[Constant][0] = Tensor[(2, 1, 1, 1), float32] "AACAPwAAAEA=";
meta[Constant][1] = Tensor[(2, 1, 1), float32] "AAAAQAAAgEA=";)";

// Before a depthwise convolution, and before a dense layer with relu between.
constexpr const char* kScalesBefore = R"(
def @main(%x: Tensor[(1, 2, 2, 2), float32], %y: Tensor[(3, 2), float32]) {
  %0 = multiply(%x, meta[Constant][1]);
  %1 = nn.conv2d(%0, meta[Constant][0], groups=2);
  %2 = nn.relu(multiply(%y, meta[Constant][2]));
  (%1, nn.dense(%2, meta[Constant][3]))
}
meta[Constant][0] = Tensor[(2, 1, 1, 1), float32] "AACAPwAAAEA=";
meta[Constant][1] = Tensor[(2, 1, 1), float32] "AAAAQAAAgEA=";
meta[Constant][2] = Tensor[(2), float32] "AAAAQAAAgEA=";
meta[Constant][3] = Tensor[(1, 2), float32] "AACAPwAAAEA=";)";

constexpr const char* kCalls = R"(
def @main(%x: Tensor[(4), float32], %y: Tensor[(4), float32]) {
  let %a: Tensor[(4), float32] = @AddFunc(%x, %y);
  let %b: Tensor[(4), float32] = @AddFunc(%a, %y);
  add(%a, %b)
}
def @AddFunc(%data: Tensor[(4), float32], %bias: Tensor[(4), float32]) { add(%data, %bias) }
def @unused(%data: Tensor[(4), float32]) { %data })";

constexpr const char* kResidual = R"(
def @main(%x: Tensor[(1, 16, 8, 8), float32], %w0: Tensor[(16, 16, 3, 3), float32],
          %w1: Tensor[(16, 16, 3, 3), float32], %b: Tensor[(16, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w0, padding=[1, 1, 1, 1]);
  %1 = add(%0, %b);
  %2 = nn.relu(%1);
  %3 = nn.conv2d(%2, %w1, padding=[1, 1, 1, 1]);
  %4 = add(%3, %b);
  %5 = add(%4, %x);
  %6 = nn.relu(%5);
  %7 = nn.max_pool2d(%6, pool_size=[2, 2], strides=[2, 2]);
  %8 = (%7, %7);
  %9 = concatenate(%8, axis=1);
  %10 = nn.global_avg_pool2d(%9);
  %11 = nn.batch_flatten(%10);
  %12 = multiply(%11, 0.5f32);
  (nn.softmax(%12), %6, %x)
})";

// As large as what networks have, so that blocks are worth copies at the ends.
constexpr const char* kBlocked = R"(
def @main(%x: Tensor[(1, 64, 56, 56), float32], %w0: Tensor[(64, 64, 3, 3), float32],
          %w1: Tensor[(64, 64, 3, 3), float32], %b: Tensor[(64, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w0, padding=[1, 1, 1, 1]);
  %1 = add(%0, %b);
  %2 = nn.relu(%1);
  %3 = nn.conv2d(%2, %w1, padding=[1, 1, 1, 1]);
  %4 = add(%3, %b);
  %5 = add(%4, %x);
  %6 = nn.relu(%5);
  %7 = nn.max_pool2d(%6, pool_size=[2, 2], strides=[2, 2]);
  %8 = (%7, %7);
  %9 = concatenate(%8, axis=1);
  %10 = nn.global_avg_pool2d(%9);
  (nn.batch_flatten(%10), %6)
})";

constexpr const char* kBranches = R"(
def @main(%c: bool, %x: Tensor[(2), float32]) {
  %0 = if (%c) { (nn.relu(%x), (%x,)) } else { (exp(%x), (negative(%x),)) };
  %1 = %0.1;
  add(%0.0, %1.0)
})";

constexpr const char* kTuples = R"(
def @main(%x: (Tensor[(2), float32], (Tensor[(3), float32],)), %y: Tensor[(2), float32]) {
  %0 = %x.1;
  (concatenate((%x.0, %y), axis=0), (%0.0, %0))
})";

constexpr const char* kFunctions = R"(
def @twice(%f: fn (Tensor[(2), float32]) -> Tensor[(2), float32], %x: Tensor[(2), float32]) {
  %0 = %f(%x);
  %f(%0)
}
def @main(%c: bool, %x: Tensor[(2), float32]) {
  let %scale: fn (Tensor[(2), float32]) -> Tensor[(2), float32] =
      fn (%v: Tensor[(2), float32]) { multiply(%v, %x) };
  %0 = if (%c) { %scale } else { @twice_relu };
  %1 = @twice(%scale, %x);
  (%0(%1), @twice(fn (%v: Tensor[(2), float32]) { @twice_relu(%v) }, %x))
}
def @twice_relu(%x: Tensor[(2), float32]) { nn.relu(nn.relu(%x)) })";

constexpr const char* kSiblings = R"(
def @main(%x: Tensor[(1, 2, 4, 4), float32]) {
  %0 = nn.conv2d(%x, meta[Constant][0]);
  %1 = nn.relu(add(%0, meta[Constant][1]));
  %2 = nn.conv2d(%x, meta[Constant][2]);
  %3 = nn.relu(add(%2, meta[Constant][3]));
  %4 = nn.conv2d(%x, meta[Constant][2]);
  %5 = nn.relu(add(%4, meta[Constant][3]));
  %6 = nn.conv2d(%x, meta[Constant][2], strides=[2, 2]);
  (exp(%1), negative(%3), %5, %6)
}
meta[Constant][0] = Tensor[(1, 2, 1, 1), float32] "AACAPwAAAEA=";
meta[Constant][1] = Tensor[(1, 1, 1), float32] "AACAPw==";
meta[Constant][2] = Tensor[(2, 2, 1, 1), float32] "AACAPwAAAEAAAIA/AAAAQA==";
meta[Constant][3] = Tensor[(2, 1, 1), float32] "AACAPwAAAEA=";)";

constexpr const char* kAttention = R"(
def @main(%x: Tensor[(4, 1), float32]) {
  %0 = nn.dense(%x, meta[Constant][0]);
  %1 = nn.dense(%x, meta[Constant][0]);
  %2 = nn.dense(%x, meta[Constant][0]);
  (add(%0, meta[Constant][1]), add(meta[Constant][1], %1), add(%2, meta[Constant][1]))
}
meta[Constant][0] = Tensor[(2, 1), float32] "AACAPwAAAEA=";
meta[Constant][1] = Tensor[(2), float32] "AACAPwAAAEA=";)";

constexpr const char* kCasts = R"(
def @main(%x: Tensor[(2, 3), int8], %y: Tensor[(2, 3), float32], %z: Tensor[(2, 3), float16]) {
  %0 = cast(cast(%x, dtype=float32), dtype=float64);
  %1 = transpose(cast(%z, dtype=float32), axes=[1, 0]);
  %2 = cast(transpose(%y, axes=[1, 0]), dtype=int8);
  %3 = cast(cast(%y, dtype=int8), dtype=float32);
  %4 = cast(%x, dtype=float32);
  (%0, nn.relu(%1), %2, %3, sum(%4, axis=[1]), exp(%4), nn.dense(%4, %y))
})";

// So small that blocks are not worth copies at the ends, unless those cost nothing.
constexpr const char* kFreeEnds = R"(
def @main(%x: Tensor[(1, 64, 7, 7), float32], ends="free") {
  nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2])
})";

// A matrix of 1 x 24 with one element that is not 0, as data and as a weight of too many of them.
constexpr const char* kSparse = R"(
def @main(%x: Tensor[(24, 3), float32]) {
  %0 = transpose(%x, axes=[1, 0]);
  %1 = nn.dense(meta[Constant][0], %0);
  %2 = nn.dense(%0, meta[Constant][0]);
  (nn.relu(%1), %2)
}
meta[Constant][0] = Tensor[(1, 24), float32] "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";)";

// One slice of a convolution's result is joined with what others write, one is read.
constexpr const char* kJoins = R"(
def @main(%x: Tensor[(1, 16, 8, 8), float32], %w: Tensor[(48, 16, 1, 1), float32],
          %v: Tensor[(16, 16, 3, 3), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w));
  %1 = strided_slice(%0, axes=[1], begin=[0], end=[32]);
  %2 = strided_slice(%0, axes=[1], begin=[32], end=[48]);
  %3 = nn.conv2d(%2, %v, padding=[1, 1, 1, 1]);
  concatenate((%1, %3), axis=1)
})";

struct Case {
  const char* pass;
  const char* model;
  const char* file = "";  // the pass's name where empty
  std::string File() const { return *file == '\0' ? pass : file; }
};

class PassGolden : public ::testing::TestWithParam<Case> {};

// The pass alone; FuseOps and AlterOpLayout on what the passes before them leave.
TEST_P(PassGolden, RewritesAsRecorded) {
  const ir::Module before = Typed(GetParam().model);
  const PassContext context = TestContext();
  ir::Module after = before;
  for (const Pass& pass : Pipeline()) {
    const bool needed = std::string(GetParam().pass) == "AlterOpLayout" && pass.name == "FuseOps";
    if (pass.name != GetParam().pass && !needed) continue;
    const auto result = pass.run(after, context);
    ASSERT_TRUE(result.ok()) << result.status();
    const auto typed = InferTypes(*result);
    ASSERT_TRUE(typed.ok()) << typed.status();
    after = *typed;
  }
  ExpectGolden(GetParam().File() + ".relay", "// before\n" + ir::ToText(before) + "\n// after " +
                                                 GetParam().pass + "\n" + ir::ToText(after));
}

INSTANTIATE_TEST_SUITE_P(
    All, PassGolden,
    ::testing::Values(
        Case{"InlineFunctions", kCalls}, Case{"DeadCode", kCalls}, Case{"Legalize", kQuantized},
        Case{"Legalize", kQuantizedArithmetic, "Legalize_arithmetic"},
        Case{"SplitZeroPoints", kZeroPoints}, Case{"SimplifyInference", kConvBlock},
        Case{"CanonicalizeOps", kBias}, Case{"CanonicalizeOps", kPads, "CanonicalizeOps_pads"},
        Case{"CanonicalizeOps", kOnePixel, "CanonicalizeOps_one_pixel"},
        Case{"EliminateCommonSubexpr", kTwins}, Case{"FoldConstant", kConstants},
        Case{"FoldScaleAxis", kScales},
        Case{"FoldScaleAxis", kScalesBehind, "FoldScaleAxis_behind"},
        Case{"FoldScaleAxis", kScalesBefore, "FoldScaleAxis_before"}, Case{"FuseOps", kResidual},
        Case{"FuseOps", kJoins, "FuseOps_joins"}, Case{"AlterOpLayout", kResidual},
        Case{"AlterOpLayout", kBlocked, "AlterOpLayout_blocked"},
        Case{"AlterOpLayout", kFreeEnds, "AlterOpLayout_free_ends"},
        Case{"CombineParallelConv2D", kSiblings}, Case{"CombineParallelDense", kAttention},
        Case{"SelectBranches", kBranches}, Case{"FlattenTuples", kTuples},
        Case{"CanonicalizeCast", kCasts}, Case{"SparsifyConstants", kSparse},
        Case{"InlineFunctions", kFunctions, "InlineFunctions_values"}),
    [](const auto& info) { return info.param.File(); });

}  // namespace
}  // namespace hone::passes
