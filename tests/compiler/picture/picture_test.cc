#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/parser.h"
#include "compiler/passes/infer_type.h"
#include "compiler/picture/dot.h"
#include "compiler/picture/tree.h"

namespace hone::picture {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

ir::Module Typed(const std::string& text) {
  const auto parsed = ir::ParseModule(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const auto typed = passes::InferTypes(*parsed);
  EXPECT_TRUE(typed.ok()) << typed.status();
  return *typed;
}

constexpr char kModel[] = R"(
def @AddFunc(%data: Tensor[(8, 16), float32], %bias: Tensor[(16), float32]) {
  nn.bias_add(%data, %bias)
}
def @main(%x: Tensor[(8, 16), float32], %b: Tensor[(16), float32], %c: bool) {
  %0 = @AddFunc(%x, %b);
  %1 = @AddFunc(%0, %b);
  %2 = if (%c) { exp(%1) } else { (negative(%1), %x).0 };
  %3 = fn (%p0: Tensor[(8, 16), float32], %p1: Tensor[(16), float32], primitive=true) {
    nn.relu(add(%p0, %p1))
  };
  %4 = %3(%2, meta[Constant][0]);
  let %y: Tensor[(8, 16), float32] = %4;
  (%y, add(%1, 1.5f32))
}
meta[Constant][0] = Tensor[(16), float32] "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPw==";)";

KernelNotes Notes() {
  return [](const ir::Expr&) { return KernelNote{.tier = "tuned", .share = 0.125}; };
}

TEST(TreeTest, ShowsFunctionsKernelsAndOperandsInExecutionOrder) {
  EXPECT_EQ(ToTree(MakePicture(Typed(kModel), Notes())), R"(@AddFunc
├─ %data  Tensor[(8, 16), float32]
├─ %bias  Tensor[(16), float32]
├─ %2 nn.bias_add(%data, %bias)  Tensor[(8, 16), float32]
└─ %3 result(%2)  Tensor[(8, 16), float32]
@main
├─ %x  Tensor[(8, 16), float32]
├─ %b  Tensor[(16), float32]
├─ %c  bool
├─ %7 @AddFunc(%x, %b)  Tensor[(8, 16), float32]
├─ %8 @AddFunc(%7, %b)  Tensor[(8, 16), float32]
├─ %9 exp(%8)  Tensor[(8, 16), float32]
├─ %10 negative(%8)  Tensor[(8, 16), float32]
├─ %11 tuple(%10, %x)
├─ %12 if(condition %c, then %9, %11.0 else)  Tensor[(8, 16), float32]
├─ kernel [tuned] 12.5 % of the time
│  ├─ %13 add(%12)  const Tensor[(16), float32]  Tensor[(8, 16), float32]
│  └─ %14 nn.relu(%13)  Tensor[(8, 16), float32]
├─ %15 add(%8)  1.5f32  Tensor[(8, 16), float32]
├─ %y(let %14)  Tensor[(8, 16), float32]
├─ %17 tuple(%y, %15)
└─ %18 result(%17)  (Tensor[(8, 16), float32], Tensor[(8, 16), float32])
)");
}

TEST(DotTest, HasAClusterForEachFunctionAndKernelAndAnEdgeIntoWhatIsCalled) {
  const auto dot = Draw(MakePicture(Typed(kModel), Notes()), ImageFormat::kDot);
  ASSERT_TRUE(dot.ok()) << dot.status();
  EXPECT_THAT(*dot, HasSubstr("label=\"@AddFunc\""));
  EXPECT_THAT(*dot, HasSubstr("label=\"@main\""));
  EXPECT_THAT(*dot, HasSubstr("tuned, 12.5 %"));
  EXPECT_THAT(*dot, HasSubstr("lhead=cluster_0"));
}

TEST(DotTest, NamesWithGraphvizSyntaxAreOnlyText) {
  const auto dot = Draw(MakePicture(Typed("def @main(%\"a\\\\N\\\"{|<b>\": float32) { "
                                          "nn.relu(%\"a\\\\N\\\"{|<b>\") }")),
                        ImageFormat::kSvg);
  ASSERT_TRUE(dot.ok()) << dot.status();
  EXPECT_THAT(*dot, HasSubstr("%a\\N&quot;{|&lt;b&gt;"));
}

TEST(DrawTest, WritesSvgPdfAndPng) {
  const Picture picture = MakePicture(Typed(kModel));
  const auto svg = Draw(picture, ImageFormat::kSvg);
  const auto pdf = Draw(picture, ImageFormat::kPdf);
  const auto png = Draw(picture, ImageFormat::kPng);
  ASSERT_TRUE(svg.ok() && pdf.ok() && png.ok()) << svg.status() << pdf.status() << png.status();
  EXPECT_THAT(*svg, HasSubstr("<svg"));
  EXPECT_THAT(*svg, Not(HasSubstr("tuned")));
  EXPECT_THAT(*pdf, StartsWith("%PDF"));
  EXPECT_THAT(*png, StartsWith("\x89PNG"));
}

}  // namespace
}  // namespace hone::picture
