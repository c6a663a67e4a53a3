#include "compiler/ir/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/literal.h"

namespace hone::ir {
namespace {

Workload Make(const Expr& function, const std::vector<bool>& const_params) {
  return MakeWorkload(function, const_params,
                      [](const std::string& op) { return op == "nn.conv2d" ? 1 : 0; });
}

Expr Scalar(float value) { return ConstantFromBytes({{}, DataType::kFloat32}, &value); }

Expr ConvRelu(const std::string& prefix, bool relu) {
  const Expr data = TensorVar(prefix + "x", {1, 64, 56, 56}, DataType::kFloat32);
  const Expr weight = TensorVar(prefix + "w", {64, 64, 3, 3}, DataType::kFloat32);
  Expr body = Call(
      "nn.conv2d", {data, weight},
      {{"strides", std::vector<int64_t>{1, 1}}, {"padding", std::vector<int64_t>{1, 1, 1, 1}}});
  if (relu) body = Call("nn.relu", {Call("multiply", {body, Scalar(0.1f)})});
  return Function({data, weight}, body, {{"primitive", true}});
}

TEST(Workload, TextIsOneCanonicalLine) {
  const Workload workload = Make(ConvRelu("a", true), {false, true});
  EXPECT_EQ(workload.text,
            "fn (p0: Tensor[(1, 64, 56, 56), float32], const p1: Tensor[(64, 64, 3, 3), float32]) "
            "{ %0 = nn.conv2d(p0, p1, padding=[1, 1, 1, 1], strides=[1, 1]); "
            "%1 = multiply(%0, 0.1f32); nn.relu(%1) } accumulate=float32 numerics=default");
  EXPECT_EQ(workload.digest, Make(ConvRelu("b", true), {false, true}).digest);
  EXPECT_NE(workload.digest, Make(ConvRelu("b", true), {false, false}).digest);
}

TEST(Workload, ThoseThatDifferInTheEpilogueShareTheAnchor) {
  const Workload a = Make(ConvRelu("a", true), {false, true});
  const Workload b = Make(ConvRelu("a", false), {false, true});
  EXPECT_NE(a.digest, b.digest);
  EXPECT_EQ(a.anchor_digest, b.anchor_digest);
  EXPECT_EQ(b.anchor_digest, b.digest);
}

TEST(Workload, ParsesBackToTheSameText) {
  const Expr x = TensorVar("x", {2, 3}, DataType::kInt8);
  const Expr y = TensorVar("y", {2, 3}, DataType::kInt8);
  const Expr parts =
      Call("split", {x}, {{"indices_or_sections", int64_t{3}}, {"axis", int64_t{1}}});
  const Expr tuple = Tuple({TupleGetItem(parts, 0), y});
  const Expr joined = Call("concatenate", {tuple}, {{"axis", int64_t{1}}});
  const Expr nan = LiteralFromBits(DataType::kFloat32, 0x7fc00001);
  const Expr functions[] = {ConvRelu("a", true), Function({x, y}, joined),
                            Function({x, y}, Tuple({Call("where", {y, x, nan})})),
                            Function({x, y}, y)};
  for (const Expr& function : functions) {
    const Workload workload = Make(function, {false, true});
    const auto parsed = ParseWorkload(workload.text);
    ASSERT_TRUE(parsed.ok()) << parsed.status() << workload.text;
    EXPECT_EQ(parsed->const_params, (std::vector<bool>{false, true}));
    EXPECT_EQ(Make(parsed->function, parsed->const_params).text, workload.text);
    EXPECT_EQ(Make(parsed->function, parsed->const_params).anchor_digest, workload.anchor_digest);
  }
}

TEST(Workload, DamagedTextIsAnError) {
  EXPECT_FALSE(ParseWorkload("").ok());
  EXPECT_FALSE(ParseWorkload("fn (p0: float32) { p0 }").ok());
  EXPECT_FALSE(ParseWorkload("fn (p0: float32) { p1 } accumulate=float32 numerics=default").ok());
  EXPECT_FALSE(ParseWorkload("fn (p0: float32) { p0 } accumulate=f32 numerics=default").ok());
  EXPECT_FALSE(
      ParseWorkload("fn (p0: float32) { @f(p0) } accumulate=float32 numerics=default").ok());
  EXPECT_FALSE(
      ParseWorkload("fn (p0: bool) { if (p0) { p0 } else { p0 } } accumulate=int32 numerics=strict")
          .ok());
}

// What clients send, and module tables hold: blocks whose product wraps around are none.
TEST(LayoutSignature, BlocksOfAnAxisHaveALimitTogether) {
  EXPECT_TRUE(LayoutSignature::Parse("->NCHW1024c1024c", {}, {4}).ok());
  EXPECT_FALSE(LayoutSignature::Parse("->NCHW1024c1024c2c", {}, {4}).ok());
  EXPECT_FALSE(LayoutSignature::Parse("->NCHW1048576c1048576c1048576c1048576c", {}, {4}).ok());
}

TEST(LayoutSignature, HasOneSpelling) {
  EXPECT_FALSE(LayoutSignature::Parse("->00NCHW", {}, {4}).ok());
  EXPECT_FALSE(LayoutSignature::Parse("->NCHW016c", {}, {4}).ok());
}

TEST(LayoutSignature, TextComesBack) {
  const auto signature = LayoutSignature::Parse("NCHW16c,NCHW->NCHW16c,NC", {4, 4}, {4, 2});
  ASSERT_TRUE(signature.ok()) << signature.status();
  EXPECT_EQ(signature->ToString(), "NCHW16c,NCHW->NCHW16c,NC");
  EXPECT_EQ(LayoutSignature::Parse("->NC", {}, {2})->ToString(), "->NC");
  EXPECT_TRUE(LayoutSignature::Parse("->", {0}, {0}).ok());
  EXPECT_FALSE(LayoutSignature::Parse("NCHW->NC", {4, 4}, {2}).ok());
  EXPECT_FALSE(LayoutSignature::Parse("NCHW,NC->NC", {4}, {2}).ok());
  EXPECT_FALSE(LayoutSignature::Parse("NCHW", {4}, {}).ok());
}

}  // namespace
}  // namespace hone::ir
