// Which transposed convolutions become dense layers, and that nothing changes by it.
#include <gtest/gtest.h>

#include "compiler/ir/printer.h"
#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

constexpr char kWeights[] = R"(
meta[Constant][0] = Tensor[(2, 3, 2, 2), float32] "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEEAABBBAAAgQQAAMEEAAEBBAABQQQAAYEEAAHBBAACAQQAAiEEAAJBBAACYQQAAoEEAAKhBAACwQQAAuEEAAMBB";
meta[Constant][1] = Tensor[(2, 3, 4), float32] "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEEAABBBAAAgQQAAMEEAAEBBAABQQQAAYEEAAHBBAACAQQAAiEEAAJBBAACYQQAAoEEAAKhBAACwQQAAuEEAAMBB";
meta[Constant][2] = Tensor[(2, 3, 2, 1, 2), float32] "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEEAABBBAAAgQQAAMEEAAEBBAABQQQAAYEEAAHBBAACAQQAAiEEAAJBBAACYQQAAoEEAAKhBAACwQQAAuEEAAMBB";
meta[Constant][3] = Tensor[(2, 12, 1, 1), float32] "AACAPwAAAEAAAEBAAACAQAAAoEAAAMBAAADgQAAAAEEAABBBAAAgQQAAMEEAAEBBAABQQQAAYEEAAHBBAACAQQAAiEEAAJBBAACYQQAAoEEAAKhBAACwQQAAuEEAAMBB";)";

// A model with a body of %x (two pixels of two channels), %l and %v (of one and three axes) and %w.
ir::Module PixelModel(const std::string& body) {
  return Typed(
      "def @main(%x: Tensor[(2, 2, 1, 1), float32], %l: Tensor[(1, 2, 1), float32], "
      "%v: Tensor[(1, 2, 1, 1, 1), float32], %w: Tensor[(2, 3, 2, 2), float32]) {" +
      body + "}" + kWeights);
}

bool HasDense(const ir::Module& module) {
  return ir::ToText(module).find("nn.dense") != std::string::npos;
}

TEST(OnePixel, IsADenseLayer) {
  for (const char* body : {"nn.conv2d_transpose(%x, meta[Constant][0])",
                           "nn.conv2d_transpose(%x, meta[Constant][0], strides=[2, 3])",
                           "nn.conv1d_transpose(%l, meta[Constant][1], strides=[4])",
                           "nn.conv3d_transpose(%v, meta[Constant][2])"}) {
    const ir::Module model = PixelModel(body);
    const ir::Module canonical = Canonical(model);
    EXPECT_TRUE(HasDense(canonical)) << body;
    EXPECT_EQ(InterpretOnRandom(canonical), InterpretOnRandom(model)) << body;
  }
}

TEST(OnePixel, OthersStay) {
  for (const char* body :
       {"nn.conv2d_transpose(%x, meta[Constant][0], output_padding=[1, 1], strides=[2, 2])",
        "nn.conv2d_transpose(%x, meta[Constant][0], padding=[1, 0, 0, 0])",
        "nn.conv2d_transpose(%x, meta[Constant][0], dilation=[2, 1])",
        "nn.conv2d_transpose(%x, meta[Constant][0], groups=2)",
        "nn.conv2d_transpose(%x, meta[Constant][3])",  // one tap
        "nn.conv2d_transpose(%x, %w)"}) {              // no constant
    EXPECT_FALSE(HasDense(Canonical(PixelModel(body)))) << body;
  }
}

}  // namespace
}  // namespace hone::passes
