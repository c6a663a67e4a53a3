// What the default schedules of compute-bound kernels become on each kind of vector: tiles that
// stay in registers, with the cheapest form of multiply-add there is.
#include <fmt/format.h>

#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/hot_loop.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

constexpr const char* kNeon = "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1";

std::string ConvText(int64_t in, int64_t out, int64_t size, int64_t taps) {
  return fmt::format(
      "fn (p0: Tensor[(1, {0}, {2}, {2}), float32], const p1: Tensor[({1}, {0}, {3}, {3}), "
      "float32]) {{ nn.conv2d(p0, p1, padding=[{4}, {4}, {4}, {4}]) }}",
      in, out, size, taps, taps / 2);
}

std::string DenseText(int64_t rows, int64_t units, int64_t terms) {
  return fmt::format(
      "fn (p0: Tensor[({}, {}), float32], const p1: Tensor[({}, {}), float32]) {{ nn.dense(p0, p1) "
      "}}",
      rows, terms, units, terms);
}

std::vector<std::string> Kernels() {
  return {ConvText(256, 64, 56, 1),  ConvText(512, 128, 28, 1), ConvText(2048, 512, 7, 1),
          ConvText(2048, 448, 8, 1), ConvText(768, 192, 17, 1), ConvText(128, 128, 28, 3),
          ConvText(256, 256, 14, 3), ConvText(512, 512, 7, 3),  ConvText(96, 96, 35, 3),
          DenseText(512, 512, 512),  DenseText(128, 768, 768),  DenseText(131, 257, 129),
          DenseText(32, 1024, 1024)};
}

// The hot loop of the default config in the widest blocks the kernel can have, or with this
// signature.
std::vector<std::string> DefaultHotLoop(const std::string& kernel, const char* target_text,
                                        const std::string& fma, const char* numerics = "strict",
                                        const std::string& wanted = "") {
  const auto def = ops::LowerWorkload(kernel + " accumulate=float32 numerics=" + numerics);
  EXPECT_TRUE(def.ok()) << def.status().ToString();
  const schedule::Template& chosen = schedule::TemplateFor(*def);
  schedule::Task task;
  task.def = &*def;
  task.target = TestTarget(target_text);
  const std::string block = fmt::format("NCHW{}c", task.target.AsCpu()->VectorLanes());
  const auto signatures = chosen.Signatures(*def, machine::Machine::For(task.target));
  task.signature = signatures[0];
  for (const ir::LayoutSignature& signature : signatures) {
    const std::string text = signature.ToString();
    if (text == (wanted.empty() ? block + "->" + block : wanted)) task.signature = signature;
  }
  const auto nest = schedule::NestOfConfig(task, schedule::DefaultOfTask(task));
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  const auto assembly = EmitAssembly(ArtifactOf(*nest, task.target));
  EXPECT_TRUE(assembly.ok()) << assembly.status().ToString();
  return HotLoop(*assembly, fma);
}

std::string Text(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

TEST(DefaultCodeShape, OfSixteenRegistersTilesHideTheLatencyAndStay) {
  for (const std::string& kernel : Kernels()) {
    SCOPED_TRACE(kernel);
    const std::vector<std::string> loop = DefaultHotLoop(kernel, kAvx2, "vfmadd");
    // Two units of four cycles' latency are busy from eight on; a vector that is loaded has to
    // serve several multiplications.
    const int multiplications = CountLines(loop, {"vfmadd", "ymm"});
    const int loads = CountLines(loop, {"vbroadcastss"}) + CountLines(loop, {"vmovaps"}) +
                      CountLines(loop, {"vmovups"});
    EXPECT_GE(multiplications, 10) << Text(loop);
    EXPECT_GT(multiplications, loads) << Text(loop);
    EXPECT_EQ(CountLines(loop, {"(%rsp)"}), 0) << Text(loop);
  }
}

// Elements of the right operand are multiplied where they lie: nothing is broadcast, turned, or
// stored beside the sums.
TEST(DefaultCodeShape, OfFewRowsAVariableOperandIsMultipliedWhereItLies) {
  for (const char* target : {kAvx2, "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4"}) {
    for (const int64_t rows : {1, 4, 16}) {
      SCOPED_TRACE(fmt::format("{} rows, {}", rows, target));
      std::string kernel = DenseText(rows, 1024, 1024);
      kernel.replace(kernel.find("const "), 6, "");
      const std::vector<std::string> loop = DefaultHotLoop(kernel, target, "vfmadd");
      const int multiplications = CountLines(loop, {"vfmadd"});
      EXPECT_GE(multiplications, rows == 1 ? 4 : 8) << Text(loop);
      EXPECT_EQ(CountLines(loop, {"vfmadd231ps"}), multiplications) << Text(loop);
      for (const char* other : {"broadcast", "vunpck", "vshuf", "vperm", "(%rsp)"}) {
        EXPECT_EQ(CountLines(loop, {other}), 0) << Text(loop);
      }
    }
  }
}

TEST(DefaultCodeShape, OnArmElementsAreMultipliedAsLoaded) {
  for (const std::string& kernel : Kernels()) {
    SCOPED_TRACE(kernel);
    const std::vector<std::string> loop = DefaultHotLoop(kernel, kNeon, "fmla");
    EXPECT_GE(CountLines(loop, {"fmla"}), 20) << Text(loop);
    // By element: a copy of it to all lanes would take the multiplications' own units.
    EXPECT_EQ(CountLines(loop, {"fmla", ".s["}), CountLines(loop, {"fmla"})) << Text(loop);
    EXPECT_EQ(CountLines(loop, {"ld1r"}) + CountLines(loop, {"dup"}), 0) << Text(loop);
    EXPECT_EQ(CountLines(loop, {"[sp"}), 0) << Text(loop);
  }
}

// Neighbours in memory are operands of one step (row-major data), or of two that are unrolled
// (Winograd): loads in pairs or ahead of time would not fit beside the tile.
TEST(DefaultCodeShape, OnArmNeighboursAreLoadedWhenTheyAreMultiplied) {
  const std::string row_major = "NCHW->NCHW";
  for (const std::vector<std::string>& loop :
       {DefaultHotLoop(ConvText(256, 64, 56, 1), kNeon, "fmla", "strict", row_major),
        DefaultHotLoop(ConvText(64, 64, 56, 3), kNeon, "fmla", "default")}) {
    EXPECT_GE(CountLines(loop, {"fmla"}), 20) << Text(loop);
    EXPECT_EQ(CountLines(loop, {"fmla", ".s["}), CountLines(loop, {"fmla"})) << Text(loop);
    EXPECT_EQ(CountLines(loop, {"[sp"}) + CountLines(loop, {"mov\tv"}), 0) << Text(loop);
  }
}

// Constants of the transforms that were kept in registers beside the products' loop cost twelve of
// its sums theirs.
TEST(DefaultCodeShape, OnArmTransformsLeaveTheProductsTheirRegisters) {
  const std::vector<std::string> loop =
      DefaultHotLoop(ConvText(96, 96, 35, 3), kNeon, "fmla", "default");
  EXPECT_GE(CountLines(loop, {"fmla"}), 20) << Text(loop);
  EXPECT_LE(CountLines(loop, {"[sp"}), 2) << Text(loop);
}

// Rows of 28 lie one behind the other: what reads them as one reads whole vectors, though their
// elements' places are told by quotients and remainders.
TEST(DefaultCodeShape, AnotherShapeOfATensorIsReadByVectors) {
  const std::vector<std::string> loop = DefaultHotLoop(
      "fn (p0: Tensor[(2, 1, 28, 28), float32]) { %0 = nn.batch_flatten(p0); nn.relu(%0) }", kAvx2,
      "vmaxps", "default", "NCHW->NC");
  EXPECT_GE(CountLines(loop, {"vmaxps", "ymm"}), 1) << Text(loop);
  for (const char* other : {"gather", "imul", "insert", "vmovss"}) {
    EXPECT_EQ(CountLines(loop, {other}), 0) << Text(loop);
  }
}

}  // namespace
}  // namespace hone::codegen
