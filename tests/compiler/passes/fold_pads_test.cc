// Which pads become padding, and that nothing changes by it.
#include <gtest/gtest.h>

#include "compiler/ir/printer.h"
#include "compiler/passes/evaluator.h"
#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

// A model with a body of %x, an image of 4 channels, with weights %w, %d (one channel each) and %v
// (1x1).
ir::Module PaddedModel(const std::string& body) {
  return Typed(
      "def @main(%x: Tensor[(1, 4, 5, 6), float32], %w: Tensor[(3, 4, 3, 3), float32], "
      "%d: Tensor[(4, 1, 3, 3), float32], %v: Tensor[(2, 4, 1, 1), float32]) {" +
      body + "}");
}

bool HasPad(const ir::Module& module) {
  return ir::ToText(module).find("nn.pad") != std::string::npos;
}

constexpr char kPad[] = "%0 = nn.pad(%x, pad_width=[0, 0, 0, 0, 1, 2, 0, 1], pad_value=0.0);";

TEST(FoldPads, IntoConvolutionsAndPools) {
  for (const std::string& body :
       {kPad + std::string("nn.conv2d(%0, %w)"),
        kPad + std::string("nn.conv2d(%0, %w, padding=[1], strides=[2, 2])"),
        kPad + std::string("nn.conv2d(%0, %w, padding=[0, 1, 2, 0], dilation=[2, 1])"),
        kPad + std::string("nn.conv2d(%0, %d, groups=4)"),
        // All that read it can do without it.
        kPad + std::string("(nn.conv2d(%0, %w), nn.conv2d(%0, %v))"),
        kPad + std::string("nn.avg_pool2d(%0, pool_size=[3, 3], strides=[2, 2])"),
        kPad + std::string("nn.avg_pool2d(%0, pool_size=[3, 3], padding=[1, 1, 1, 1], "
                           "count_include_pad=true)"),
        std::string("%0 = nn.relu(%x); %1 = nn.pad(%0, pad_width=[0, 0, 0, 0, 1, 1, 1, 1]);"
                    "nn.max_pool2d(%1, pool_size=[3, 3], strides=[2, 2])")}) {
    const ir::Module model = PaddedModel(body);
    const ir::Module canonical = Canonical(model);
    EXPECT_TRUE(HasPad(model));
    EXPECT_FALSE(HasPad(canonical)) << ir::ToText(canonical);
    EXPECT_EQ(InterpretOnRandom(canonical), InterpretOnRandom(model)) << body;
  }
}

TEST(FoldPads, OfOneAndThreeAxes) {
  for (const char* text :
       {"def @main(%x: Tensor[(1, 2, 9), float32], %w: Tensor[(3, 2, 3), float32]) {"
        "nn.conv1d(nn.pad(%x, pad_width=[0, 0, 0, 0, 2, 0]), %w) }",
        "def @main(%x: Tensor[(1, 2, 4, 4, 4), float32], %w: Tensor[(3, 2, 3, 3, 3), float32]) {"
        "nn.conv3d(nn.pad(%x, pad_width=[0, 0, 0, 0, 1, 1, 0, 1, 2, 0]), %w) }"}) {
    const ir::Module model = Typed(text);
    const ir::Module canonical = Canonical(model);
    EXPECT_FALSE(HasPad(canonical)) << ir::ToText(canonical);
    EXPECT_EQ(InterpretOnRandom(canonical), InterpretOnRandom(model));
  }
}

// Quantised data are padded with their zero point: by both or by neither.
TEST(FoldPads, OfTheValueThatTheConvolutionPadsWith) {
  for (const int value : {0, 7}) {
    const ir::Module model = Typed(
        "def @main(%x: Tensor[(1, 2, 4, 4), uint8], %w: Tensor[(3, 2, 3, 3), int8]) {"
        "%0 = nn.pad(%x, pad_width=[0, 0, 0, 0, 1, 1, 1, 1], pad_value=7.0);"
        "nn.conv2d(%0, %w, padding=[1, 1, 1, 1], pad_value=" +
        std::to_string(value) + ", out_dtype=int32) }");
    EXPECT_EQ(HasPad(Canonical(model)), value == 0) << ir::ToText(Canonical(model));
  }
}

TEST(FoldPads, LeavesWhatWouldChange) {
  const std::string channels = "nn.pad(%x, pad_width=[0, 0, 1, 0, 1, 1, 1, 1])";
  for (const std::string& body :
       {// Another value, another mode, channels.
        std::string("nn.conv2d(nn.pad(%x, pad_width=[0, 0, 0, 0, 1, 1, 1, 1], pad_value=1.0), %w)"),
        std::string("nn.conv2d(nn.pad(%x, pad_width=[0, 0, 0, 0, 1, 1, 1, 1], "
                    "pad_mode=\"edge\"), %w)"),
        "nn.conv2d(strided_slice(" + channels + ", axes=[1], begin=[0], end=[4]), %w)",
        // Others read it, or it is a result.
        kPad + std::string("(nn.conv2d(%0, %w), sqrt(%0))"),
        kPad + std::string("(nn.conv2d(%0, %w), %0)"),
        // Counted by nn.pad, and by the pool not.
        kPad + std::string("nn.avg_pool2d(%0, pool_size=[3, 3], padding=[1, 1, 1, 1])"),
        kPad + std::string("nn.avg_pool2d(%0, pool_size=[3, 3], strides=[2, 2], ceil_mode=true)"),
        // Zeros may be above the data; a window may have nothing but zeros.
        kPad + std::string("nn.max_pool2d(%0, pool_size=[3, 3])"),
        std::string("%0 = nn.relu(%x); %1 = nn.pad(%0, pad_width=[0, 0, 0, 0, 3, 1, 1, 1]);"
                    "nn.max_pool2d(%1, pool_size=[3, 3])")}) {
    const ir::Module canonical = Canonical(PaddedModel(body));
    EXPECT_TRUE(HasPad(canonical)) << ir::ToText(canonical);
  }
}

}  // namespace
}  // namespace hone::passes
