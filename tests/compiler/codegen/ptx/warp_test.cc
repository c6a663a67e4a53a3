// Tile operations in thread loops: done by warps in tensor cores where the target has them, and
// everywhere with what the interpreter says.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "compiler/loop/parser.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"

namespace hone::codegen {
namespace {

// c[m, n] = sum a[m, k] * b[n, k], by two blocks of warps, each of which has `rows` by `columns`
// tiles.
struct WarpProducts {
  std::string dtype = "bfloat16";
  int64_t lanes = 16, steps = 16;  // of a tile operation
  int64_t rows = 2, columns = 2;
  int64_t warps_y = 2, warps_x = 2;
  int64_t blocks = 2, parts = 2;  // of the terms: copied at once, and tile operations of a copy
  int64_t slack = 8;              // elements behind a row of a copy
  int64_t copy_threads = 64;
  bool is_unrolled = true;
  std::string right_layout = "NC";

  bool IsFloat32() const { return dtype == "float32"; }
  int64_t StepTerms() const { return IsFloat32() ? 1 : 2; }
};

std::string Loop(const std::string& kind, const std::string& var, int64_t extent,
                 const std::string& body) {
  return fmt::format("{} {} in 0..{} {{{}}}\n", kind, var, extent, body);
}

// The tile operations of all warps. Variables end in `name`.
std::string ForTiles(const WarpProducts& p, const std::string& name, const std::string& of_row,
                     int64_t parts) {
  const char* const kind = p.is_unrolled ? "unroll" : "for";
  std::string tiles = Loop("tile", "m" + name, 16, of_row);
  tiles = Loop(kind, "i" + name, p.rows, Loop(kind, "j" + name, p.columns, tiles));
  if (parts > 0) tiles = Loop("unroll", "q" + name, parts, tiles);
  return Loop("thread", "y" + name, p.warps_y, Loop("thread", "x" + name, p.warps_x, tiles));
}

std::string Row(const WarpProducts& p, const std::string& name) {
  return fmt::format("y{0} * {1} + i{0} * 16 + m{0}", name, p.rows * 16);
}

std::string Lane(const WarpProducts& p, const std::string& name) {
  return fmt::format("x{0} * {1} + j{0} * {2} + n{0}", name, p.columns * p.lanes, p.lanes);
}

std::string Sum(const WarpProducts& p, const std::string& name) {
  return fmt::format("%s[{}, {}]", Row(p, name), Lane(p, name));
}

// Threads side by side copy neighbours.
std::string Copy(const WarpProducts& p, const std::string& to, const std::string& from,
                 const std::string& first_row, int64_t rows, int64_t terms) {
  const std::string at = fmt::format("(e{0} * {1} + t{0})", to, p.copy_threads);
  const std::string row = fmt::format("floordiv({}, {})", at, terms);
  const std::string term = fmt::format("floormod({}, {})", at, terms);
  const std::string copy = fmt::format("%{}[{}, {}] = %{}[{} + {}, k * {} + {}]", to, row, term,
                                       from, first_row, row, terms, term);
  return Loop("thread", "t" + to, p.copy_threads,
              Loop("for", "e" + to, rows * terms / p.copy_threads, copy));
}

loop::Nest WarpNest(const WarpProducts& p) {
  const int64_t rows = p.warps_y * p.rows * 16, columns = p.warps_x * p.columns * p.lanes;
  const int64_t terms = p.parts * p.steps * p.StepTerms();
  const std::string zero =
      ForTiles(p, "0", Loop("vectorize", "n0", p.lanes, Sum(p, "0") + " = 0.0"), 0);
  const std::string term = p.IsFloat32()
                               ? fmt::format("q1 * {} + s", p.steps)
                               : fmt::format("q1 * {} + s * 2 + d", p.steps * p.StepTerms());
  const std::string factors = p.IsFloat32()
                                  ? "%p[{1}, {3}] * %r[{2}, {3}]"
                                  : "cast<float32>(%p[{1}, {3}]) * cast<float32>(%r[{2}, {3}])";
  const std::string product = fmt::format(fmt::runtime("{0} = {0} + " + factors), Sum(p, "1"),
                                          Row(p, "1"), Lane(p, "1"), term);
  const std::string lane = Loop("vectorize", "n1", p.lanes,
                                p.IsFloat32() ? product : Loop("dot", "d", p.StepTerms(), product));
  const std::string multiply = ForTiles(p, "1", Loop("for", "s", p.steps, lane), p.parts);
  const std::string stored =
      fmt::format("%c[b * {} + {}, {}] = {}", rows, Row(p, "2"), Lane(p, "2"), Sum(p, "2"));
  const std::string store = ForTiles(p, "2", Loop("vectorize", "n2", p.lanes, stored), 0);
  const std::string steps = fmt::format(
      "alloc shared %p: {0}[{1}, {3}] NC {{\n{5}alloc shared %r: {0}[{2}, {3}] {4} {{\n{6}{7}}}}}",
      p.dtype, rows, columns, terms + p.slack, p.right_layout,
      Copy(p, "p", "a", fmt::format("b * {}", rows), rows, terms),
      Copy(p, "r", "w", "0", columns, terms), multiply);
  const std::string sums = fmt::format("alloc tile %s: float32[{}, {}] NC {{\n{}{}{}}}", rows,
                                       columns, zero, Loop("for", "k", p.blocks, steps), store);
  const std::string text = fmt::format(
      "nest @products {{\ninput %a: {0}[{1}, {2}] NC\ninput %w: {0}[{3}, {2}] NC\noutput %c: "
      "float32[{1}, {3}] NC\nrun @go {{{4}}}}}",
      p.dtype, 2 * rows, p.blocks * terms, columns, Loop("parallel", "b", 2, sums));
  const auto nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return nest.ok() ? *nest : loop::Nest();
}

const WarpProducts kShapes[] = {
    {},
    {.dtype = "float16"},
    {.lanes = 8},
    {.steps = 8, .rows = 1, .columns = 3, .warps_y = 1},
    {.lanes = 8, .steps = 8, .rows = 3, .columns = 1, .warps_x = 1, .blocks = 3},
    // Copies by more threads than the warps have, and by fewer.
    {.rows = 1, .columns = 1, .warps_y = 1, .warps_x = 1, .copy_threads = 128},
    {.copy_threads = 16},
    // Rows that ldmatrix cannot load: at odd places, and at multiples of 8 bytes.
    {.slack = 1},
    {.dtype = "float16", .slack = 4},
    {.lanes = 8, .slack = 0},
    // The right operand as tile registers of CPUs take it: pairs of terms of neighbouring lanes.
    {.slack = 0, .right_layout = "NC16n2c"},
    // Float32 is split.
    {.dtype = "float32", .slack = 4},
    {.dtype = "float32", .lanes = 8, .steps = 8, .slack = 4},
    {.dtype = "float32", .rows = 1, .columns = 3, .warps_y = 1, .slack = 1},
    {.dtype = "float32", .slack = 0, .right_layout = "CN"},
    // Which tile it is is known to the device alone.
    {.rows = 2, .columns = 3, .is_unrolled = false},
};

std::string Described(const WarpProducts& p) {
  return fmt::format("{} lanes {} steps {} tiles {}x{} warps {}x{} slack {} threads {} {}", p.dtype,
                     p.lanes, p.steps, p.rows, p.columns, p.warps_y, p.warps_x, p.slack,
                     p.copy_threads, p.right_layout);
}

// Tensor cores cut where they add.
constexpr double kTolerance = 3e-5;

TEST(Warp, ProductsAreTheSumsOfTheLoopsThatTheyMean) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const WarpProducts& shape : kShapes) {
    SCOPED_TRACE(Described(shape));
    ExpectCudaSameAsInterpreter(WarpNest(shape), kAmpere, kTolerance);
    if (HasFailure()) return;
  }
}

TEST(Warp, WithoutTensorCoresAThreadDoesWhatAWarpDid) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const WarpProducts& shape : {WarpProducts{}, WarpProducts{.dtype = "float16", .lanes = 8}}) {
    SCOPED_TRACE(Described(shape));
    EXPECT_EQ(Count(PtxOf(WarpNest(shape), kTuring), "mma."), 0);
    ExpectCudaSameAsInterpreter(WarpNest(shape), kTuring, kTolerance);
  }
}

TEST(Warp, IsTheInstructionOfItsTypes) {
  // Two steps of 16 terms, of 4 tiles of two times 8 lanes.
  const std::string ptx = PtxOf(WarpNest({.parts = 1}), kAmpere);
  EXPECT_EQ(Count(ptx, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"), 16) << ptx;
  const std::string half = PtxOf(WarpNest({.dtype = "float16", .parts = 1}), kAmpere);
  EXPECT_EQ(Count(half, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), 16) << half;
}

// 8 terms are three products of factors that are split once.
TEST(Warp, ProductsOfFloat32AreThreeOfTheirParts) {
  const std::string ptx = PtxOf(WarpNest({.dtype = "float32", .parts = 1, .slack = 4}), kAmpere);
  EXPECT_EQ(Count(ptx, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"), 48) << ptx;
  // In two steps 4 words of both tiles of rows, and 2 of the 4 tiles of lanes.
  EXPECT_EQ(Count(ptx, "cvt.rna.tf32.f32"), 32) << ptx;
  EXPECT_EQ(Count(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 8) << ptx;
  EXPECT_EQ(Count(ptx, ".local"), 0) << ptx;
}

// One tile of float32 a block, of sums of `copies` times so many parts of 8 terms.
WarpProducts Float32Sums(int64_t copies, int64_t parts) {
  return {.dtype = "float32",
          .steps = 8,
          .rows = 1,
          .columns = 1,
          .warps_y = 1,
          .warps_x = 1,
          .blocks = copies,
          .parts = parts,
          .slack = 4};
}

// The largest |error| over 2^-24 sum |a||b|.
double ErrorConstant(const WarpProducts& sums, const std::string& target,
                     const std::function<double()>& draw) {
  const loop::Nest nest = WarpNest(sums);
  constexpr int kLeft = 0, kRight = 1, kResult = 2;
  Buffers buffers(nest, 1);
  const int64_t rows = nest.buffers[kLeft]->shape[0], terms = nest.buffers[kLeft]->shape[1];
  const int64_t columns = nest.buffers[kRight]->shape[0];
  for (int64_t i = 0; i < rows * terms; ++i) buffers.Set(nest, kLeft, i, draw());
  for (int64_t i = 0; i < columns * terms; ++i) buffers.Set(nest, kRight, i, draw());
  RunOnCuda(nest, target, buffers);
  double constant = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      double sum = 0, magnitude = 0;
      for (int64_t i = 0; i < terms; ++i) {
        const double product =
            buffers.At(nest, kLeft, row * terms + i) * buffers.At(nest, kRight, column * terms + i);
        sum += product;
        magnitude += std::fabs(product);
      }
      const double error = buffers.At(nest, kResult, row * columns + column) - sum;
      constant = std::max(constant, std::fabs(error) / (0x1p-24 * magnitude));
    }
  }
  return constant;
}

TEST(Warp, SumsOfFloat32AreAsExactAsMultiplyAdds) {
  HONE_SKIP_WITHOUT_CUDA();
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto draw = [&] { return normal(random); };
  const auto draw_positive = [&] { return std::fabs(normal(random)); };
  WarpProducts sums = Float32Sums(/*copies=*/128, /*parts=*/2);
  sums.steps = 16;
  const double of_normal = ErrorConstant(sums, kAmpere, draw);
  const double of_positive = ErrorConstant(sums, kAmpere, draw_positive);
  // Figures of an H100 are 1.6 and 19, and of its multiply-adds 6 and 97.
  EXPECT_LT(of_normal, 2.5);
  EXPECT_LT(of_positive, 25);
  // Without tensor cores it is multiply-adds.
  EXPECT_LT(of_normal, ErrorConstant(sums, kTuring, draw));
  EXPECT_LT(of_positive, ErrorConstant(sums, kTuring, draw_positive));
}

// Every product of low parts, which is left out, is of the same sign and as large as it can be.
TEST(Warp, FewTermsOfFloat32AreWithinTheBoundOfDirectSums) {
  HONE_SKIP_WITHOUT_CUDA();
  std::mt19937 random(1);
  std::uniform_real_distribution<float> low(0x1.8p-12f, 0x1.ffp-12f);
  const auto draw = [&] { return 1 + low(random); };
  for (const int64_t parts : {1, 2, 4}) {
    const int64_t terms = parts * 8;
    // ErrorBound of a product of matrices.
    EXPECT_LT(ErrorConstant(Float32Sums(1, parts), kAmpere, draw), terms + 16) << terms;
  }
}

TEST(Warp, SumsAreInRegistersAndFactorsLoadedOnce) {
  const std::string ptx = PtxOf(WarpNest({.parts = 1}), kAmpere);
  EXPECT_EQ(Count(ptx, ".local"), 0) << ptx;
  // For each step two matrices of rows and two of lanes.
  EXPECT_EQ(Count(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 8) << ptx;
  EXPECT_EQ(Count(ptx, "ld.shared"), 0) << ptx;
  EXPECT_EQ(Count(ptx, "st.global.v2.f32"), 16) << ptx;
}

}  // namespace
}  // namespace hone::codegen
