#include "compiler/passes/layout_price.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/passes/rewriting.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

TEST(LayoutPrice, PredictionsAreScaledToWhatIsMeasured) {
  std::vector<std::vector<LayoutPrice>> tasks = {
      {{.predicted_ns = 100, .measured_ns = 200}, {.predicted_ns = 150, .measured_ns = {}}},
      {{.predicted_ns = 100, .measured_ns = 800}, {.predicted_ns = 150, .measured_ns = {}}},
      {{.predicted_ns = 100, .measured_ns = {}}}};
  EXPECT_DOUBLE_EQ(Calibrate(tasks, 1), 4);  // the geometric mean of 2 and 8
  EXPECT_DOUBLE_EQ(tasks[0][0].ns, 200);
  EXPECT_DOUBLE_EQ(tasks[0][1].ns, 300);
  EXPECT_DOUBLE_EQ(tasks[1][1].ns, 1200);
  EXPECT_DOUBLE_EQ(tasks[2][0].ns, 400);
}

// A signature that turned out many times slower than predicted says little of the others.
TEST(LayoutPrice, OneBadSignatureHidesNoOther) {
  std::vector<std::vector<LayoutPrice>> tasks = {
      {{.predicted_ns = 50, .measured_ns = 5000},
       {.predicted_ns = 50, .measured_ns = {}},
       {.predicted_ns = 100, .measured_ns = 120}},
      {{.predicted_ns = 50, .measured_ns = 5000}, {.predicted_ns = 60, .measured_ns = {}}},
      {{.predicted_ns = 100, .measured_ns = 1}}};
  EXPECT_NEAR(Calibrate(tasks, 1), std::pow(120.0, 0.25), 1e-9);
  EXPECT_DOUBLE_EQ(tasks[0][1].ns, 50 * 1.2);
  EXPECT_NEAR(tasks[1][1].ns, 60 * 2 * std::pow(120.0, 0.25), 1e-6);
}

TEST(LayoutPrice, WithoutMeasurementsTheGivenRatioHolds) {
  std::vector<std::vector<LayoutPrice>> tasks = {{{.predicted_ns = 100, .measured_ns = {}}}};
  EXPECT_DOUBLE_EQ(Calibrate(tasks, 3), 3);
  EXPECT_DOUBLE_EQ(tasks[0][0].ns, 300);
}

// Convolution, depthwise convolution and pool at the sizes of networks.
TEST(LayoutPrice, BlocksArePredictedFastest) {
  const CpuTarget target = *CpuTarget::Parse("llvm -mcpu=cascadelake");
  const auto row_major = Layout::RowMajor(4);
  const auto blocked = *Layout::Parse("NCHW16c", 4);
  for (const char* call : {"nn.conv2d(%x, %w, padding=[1, 1, 1, 1])",
                           "nn.conv2d(%x, %d, padding=[1, 1, 1, 1], groups=64)",
                           "nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2])"}) {
    const ir::Module module = Typed(
        std::string("def @main(%x: Tensor[(1, 64, 28, 28), float32], %w: Tensor[(64, 64, 3, 3), "
                    "float32], %d: Tensor[(64, 1, 3, 3), float32]) { ") +
        call + " }");
    const auto ns = [&](const Layout& from, const Layout& to) {
      return PredictKernelNs(module.functions.at("main"), {false, true, true}, {{from}, {to}},
                             target);
    };
    EXPECT_LT(ns(blocked, blocked), ns(row_major, blocked)) << call;
    EXPECT_LT(ns(blocked, blocked), ns(blocked, row_major)) << call;
    EXPECT_LT(ns(blocked, blocked), ns(row_major, row_major)) << call;
    // Windows in one channel are taken along the rows where all is row-major.
    const bool in_channel = std::string_view(call) != "nn.conv2d(%x, %w, padding=[1, 1, 1, 1])";
    EXPECT_EQ(ns(row_major, row_major) < ns(row_major, blocked), in_channel) << call;
    EXPECT_GT(ns(blocked, blocked), 0);
  }
}

// Row-major maps are rows that a global pool reduces as they lie: turned into blocks first they
// would cost a copy.
TEST(LayoutPrice, GlobalPoolsTakeEitherLayout) {
  const CpuTarget target = *CpuTarget::Parse("llvm -mcpu=cascadelake");
  const auto row_major = Layout::RowMajor(4);
  const auto blocked = *Layout::Parse("NCHW16c", 4);
  const ir::Module module =
      Typed("def @main(%x: Tensor[(1, 64, 7, 7), float32]) { nn.global_avg_pool2d(%x) }");
  const auto ns = [&](const Layout& layout) {
    return PredictKernelNs(module.functions.at("main"), {false}, {{layout}, {layout}}, target);
  };
  EXPECT_DOUBLE_EQ(ns(row_major), ns(blocked));
}

// Tensor cores sum over channels, where these are neighbours in whole copies.
TEST(LayoutPrice, GpusPreferChannelsLastForConvolutionsOf16BitsAlone) {
  const Target target = *Target::Parse("cuda -arch=sm_90a -multiprocessors=132");
  const auto row_major = Layout::RowMajor(4);
  const auto channels_last = *Layout::Parse("NHWC", 4);
  const auto gains = [&](const std::string& dtype, const std::string& channels,
                         const std::string& call) {
    const ir::Module module =
        Typed("def @main(%x: Tensor[(1, " + channels + ", 28, 28), " + dtype +
              "], %w: Tensor[(64, " + channels + ", 3, 3), " + dtype + "]) { " + call + " }");
    const auto ns = [&](const Layout& layout) {
      return PredictKernelNs(module.functions.at("main"), {false, true}, {{layout}, {layout}},
                             target);
    };
    return ns(channels_last) < ns(row_major);
  };
  constexpr char kConv[] = "nn.conv2d(%x, %w, padding=[1, 1, 1, 1])";
  EXPECT_TRUE(gains("bfloat16", "64", kConv));
  EXPECT_TRUE(gains("float16", "32", kConv));
  EXPECT_FALSE(gains("float32", "64", kConv));
  EXPECT_FALSE(gains("bfloat16", "3", kConv)) << "its terms fill no operation";
  EXPECT_FALSE(gains("bfloat16", "64", "nn.relu(%x)"));
}

// Row-major lanes gather what is resampled along them, and nothing else.
TEST(LayoutPrice, OnlyTheInnermostAxisIsResampledFasterInBlocks) {
  const CpuTarget target = *CpuTarget::Parse("llvm -mcpu=cascadelake");
  const auto row_major = Layout::RowMajor(4);
  const auto blocked = *Layout::Parse("NCHW16c", 4);
  const auto costs_more = [&](const std::string& size, const std::string& axis) {
    const ir::Module module = Typed("def @main(%x: Tensor[(1, 64, " + size +
                                    "), float32], %i: Tensor[(14, 2), int64], %w: Tensor[(14, 2), "
                                    "float32]) { resample(%x, %i, %w, axis=" +
                                    axis + ") }");
    const auto ns = [&](const Layout& layout) {
      return PredictKernelNs(module.functions.at("main"), {false, true, true}, {{layout}, {layout}},
                             target);
    };
    return ns(row_major) > ns(blocked);
  };
  EXPECT_FALSE(costs_more("7, 14", "2"));
  EXPECT_TRUE(costs_more("14, 7", "3"));
  EXPECT_TRUE(costs_more("14, 7", "-1"));
}

// A convolution of one tap between row-major tensors is a product of matrices; of pixels that fill
// no whole vectors, with a stride, or with an operand along one axis of pixels, it is not.
TEST(LayoutPrice, ProductsOfPixelsTurnNothing) {
  const CpuTarget target = *CpuTarget::Parse("llvm -mcpu=cascadelake");
  const auto row_major = Layout::RowMajor(4);
  const auto blocked = *Layout::Parse("NCHW16c", 4);
  const auto costs_more = [&](const std::string& size, const std::string& attrs,
                              const std::string& other) {
    const ir::Module module =
        Typed("def @main(%x: Tensor[(1, 64, " + size + "), float32], %w: Tensor[(64, 64, 1, 1), " +
              "float32], %y: Tensor[" + other + ", float32]) { add(nn.conv2d(%x, %w" + attrs +
              "), %y) }");
    const auto rank = 1 + static_cast<int>(std::count(other.begin(), other.end(), ','));
    const auto ns = [&](const Layout& layout) {
      return PredictKernelNs(module.functions.at("main"), {false, true, false},
                             {{layout, Layout::RowMajor(rank)}, {layout}}, target);
    };
    return ns(row_major) > ns(blocked);
  };
  EXPECT_FALSE(costs_more("28, 28", "", "(1, 64, 1, 1)"));
  EXPECT_FALSE(costs_more("1, 32", "", "(1, 64, 1, 1)"));
  EXPECT_TRUE(costs_more("7, 7", "", "(1, 64, 1, 1)"));
  EXPECT_TRUE(costs_more("32, 32", ", strides=[2, 2]", "(1, 64, 1, 1)"));
  EXPECT_TRUE(costs_more("28, 28", "", "(1, 64, 1, 28)"));
  EXPECT_TRUE(costs_more("28, 28", "", "(28, 28)"));
}

// A convolution of few output channels reads row-major data where it lies and copies blocks; one of
// many, or with a stride along the width, or with groups, would rather have blocks.
TEST(LayoutPrice, FewOutputChannelsAreSummedAlongRows) {
  const CpuTarget target = *CpuTarget::Parse("llvm -mcpu=cascadelake");
  const auto row_major = Layout::RowMajor(4);
  const auto blocked = *Layout::Parse("NCHW16c", 4);
  const auto costs_more = [&](const std::string& weight, const std::string& attrs,
                              const std::string& op = "conv2d") {
    const ir::Module module =
        Typed("def @main(%x: Tensor[(1, 64, 28, 28), float32], %w: Tensor[" + weight +
              ", float32]) { nn." + op + "(%x, %w, " + attrs + "padding=[1, 1, 1, 1]) }");
    const auto ns = [&](const Layout& layout) {
      return PredictKernelNs(module.functions.at("main"), {false, true}, {{layout}, {row_major}},
                             target);
    };
    return ns(row_major) > ns(blocked);
  };
  EXPECT_FALSE(costs_more("(3, 64, 3, 3)", ""));
  EXPECT_FALSE(costs_more("(9, 64, 3, 3)", "dilation=[2, 2], "));
  EXPECT_TRUE(costs_more("(12, 64, 3, 3)", ""));
  EXPECT_TRUE(costs_more("(3, 64, 3, 3)", "strides=[2, 2], "));
  EXPECT_TRUE(costs_more("(4, 32, 3, 3)", "groups=2, "));
  EXPECT_FALSE(costs_more("(64, 3, 4, 4)", "strides=[2, 2], ", "conv2d_transpose"));
  EXPECT_FALSE(costs_more("(64, 3, 3, 3)", "", "conv2d_transpose"));
  EXPECT_TRUE(costs_more("(64, 12, 4, 4)", "strides=[2, 2], ", "conv2d_transpose"));
  EXPECT_TRUE(costs_more("(64, 3, 4, 4)", "strides=[2, 2], groups=2, ", "conv2d_transpose"));
}

// Channels of 64x64 are whole pages apart: rows of 16 of them fall on one set of the first cache.
TEST(LayoutPrice, ChannelsThatAreWholePagesApartAreCopiedFromBlocks) {
  const CpuTarget target = *CpuTarget::Parse("llvm -mcpu=cascadelake");
  const auto row_major = Layout::RowMajor(4);
  const auto blocked = *Layout::Parse("NCHW16c", 4);
  for (const int64_t extent : {56, 64}) {
    const std::string shape =
        "(1, 64, " + std::to_string(extent) + ", " + std::to_string(extent) + ")";
    const ir::Module module = Typed("def @main(%x: Tensor[" + shape +
                                    ", float32], %w: Tensor[(64, 64, 3, 3), float32]) { "
                                    "nn.conv2d(%x, %w, padding=[1, 1, 1, 1]) }");
    const auto ns = [&](const Layout& to) {
      return PredictKernelNs(module.functions.at("main"), {false, true}, {{blocked}, {to}}, target);
    };
    const double copy =
        PredictCopyNs({{1, 64, extent, extent}, DataType::kFloat32}, blocked, row_major, target);
    EXPECT_EQ(ns(blocked) + copy < ns(row_major), extent == 64) << extent;
  }
}

TEST(LayoutPrice, CopiesOfNothingCostLittleAndAreNumbers) {
  const CpuTarget target = *CpuTarget::Parse("llvm -mcpu=cascadelake");
  const ir::TensorType empty{{1, 0, 4, 4}, DataType::kFloat32};
  const double ns = PredictCopyNs(empty, Layout::RowMajor(4), *Layout::Parse("NCHW16c", 4), target);
  EXPECT_GT(ns, 0);
  EXPECT_LT(ns, 1000);
}

}  // namespace
}  // namespace hone::passes
