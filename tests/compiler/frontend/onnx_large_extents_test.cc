// Files of a few bytes that name extents which no memory holds: a sentence, and no attempt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontend/onnx/import.h"
#include "tests/compiler/frontend/model_runner.h"
#include "tests/compiler/frontend/onnx_maker.h"

namespace hone::frontend {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kHuge = int64_t{1} << 36;

TEST(OnnxLargeExtents, CausalAttentionIsRefused) {
  OnnxMaker maker(23);
  for (const char* const name : {"q", "k", "v"}) maker.Input(name, {1, 1, kHuge, 1});
  maker.Node("Attention", {"q", "k", "v"}, {"y"}).Int("is_causal", 1).Output("y");
  EXPECT_THAT(Refusal(maker), HasSubstr("more than a model may ask for"));
}

TEST(OnnxLargeExtents, UnidirectionalHeadsAreRefused) {
  OnnxMaker maker(18);
  for (const char* const name : {"q", "k", "v"}) maker.Input(name, {1, kHuge, 1});
  maker.Node("com.microsoft.MultiHeadAttention", {"q", "k", "v"}, {"y"})
      .Int("num_heads", 1)
      .Int("unidirectional", 1)
      .Output("y");
  EXPECT_THAT(Refusal(maker), HasSubstr("more than a model may ask for"));
}

// Nothing is made for each channel where the file has no number for it.
TEST(OnnxLargeExtents, ScalingWithoutABiasTakesNone) {
  OnnxMaker maker(7);
  maker.Input("x", {1, kHuge, 1, 1}).Node("ImageScaler", {"x"}, {"y"}).Output("y");
  EXPECT_TRUE(ImportOnnxBytes(maker.Bytes()).ok());
}

}  // namespace
}  // namespace hone::frontend
