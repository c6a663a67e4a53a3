// Tile operations of four warps that are side by side: products of a warpgroup on sm_90a, and
// everywhere with what the interpreter says.
#include <fmt/format.h>

#include <string>

#include "compiler/loop/parser.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/ptx/run_ptx.h"

namespace hone::codegen {
namespace {

constexpr char kHopper[] = "cuda -arch=sm_90a";
// Tensor cores cut where they add.
constexpr double kGroupTolerance = 3e-5;

// c[m, n] = sum a[m, k] * b[n, k], by two blocks of warps with 16 rows each, from copies of 64
// terms.
struct GroupProducts {
  std::string dtype = "bfloat16";
  int64_t warps = 4;
  int64_t tiles = 4;   // of `lanes`
  int64_t lanes = 16;  // of a tile operation
  int64_t steps = 2;   // of the copies
  int64_t slack = 0;   // elements behind a row of a copy
  int64_t copy_threads = 128;
};

std::string CopyOfRows(const GroupProducts& p, const std::string& to, const std::string& from,
                       const std::string& first_row, int64_t rows) {
  const std::string chunk = fmt::format("(e{0} * {1} + t{0})", to, p.copy_threads);
  return fmt::format(
      "thread t{0} in 0..{1} {{for e{0} in 0..{2} {{vectorize v{0} in 0..8 {{%{0}[floordiv({3}, "
      "8), "
      "floormod({3}, 8) * 8 + v{0}] = %{4}[{5} + floordiv({3}, 8), k * 64 + floormod({3}, 8) * 8 + "
      "v{0}]}}}}}}\n",
      to, p.copy_threads, rows * 8 / p.copy_threads, chunk, from, first_row);
}

loop::Nest GroupNest(const GroupProducts& p) {
  const int64_t rows = 16 * p.warps, columns = p.tiles * p.lanes;
  const auto of_tiles = [&](const std::string& name, const std::string& body) {
    return fmt::format("thread y{0} in 0..{1} {{{2}unroll j{0} in 0..{3} {{tile m{0} in 0..16 {4}",
                       name, p.warps, name == "1" ? "unroll q in 0..2 {" : "", p.tiles, body);
  };
  const auto sum = [&](const std::string& name) {
    return fmt::format("%s[y{0} * 16 + m{0}, j{0} * {1} + n{0}]", name, p.lanes);
  };
  const std::string zero =
      of_tiles("0", fmt::format("{{vectorize n0 in 0..{} {{{} = 0.0}}}}}}}}\n", p.lanes, sum("0")));
  const std::string product = of_tiles(
      "1", fmt::format(
               "{{for d in 0..16 {{vectorize n1 in 0..{0} {{dot e in 0..2 {{{1} = {1} + "
               "cast<float32>(%p[y1 * 16 + m1, q * 32 + d * 2 + e]) * cast<float32>(%r[j1 * {0} + "
               "n1, q * 32 + d * 2 + e])}}}}}}}}}}}}}}\n",
               p.lanes, sum("1")));
  const std::string store = of_tiles(
      "2", fmt::format("{{vectorize n2 in 0..{0} {{%c[b * {1} + y2 * 16 + m2, j2 * {0} + n2] = "
                       "{2}}}}}}}}}\n",
                       p.lanes, rows, sum("2")));
  const std::string text = fmt::format(
      "nest @products {{\ninput %a: {0}[{1}, {2}] NC\ninput %w: {0}[{3}, {2}] NC\noutput %c: "
      "float32[{1}, {3}] NC\nrun @go {{parallel b in 0..2 {{\nalloc tile %s: float32[{4}, {3}] NC "
      "{{\n{5}for k in 0..{6} {{\nalloc shared %p: {0}[{4}, {7}] NC {{\n{8}alloc shared %r: "
      "{0}[{3}, "
      "{7}] NC {{\n{9}{10}}}}}}}\n{11}}}}}}}}}",
      p.dtype, 2 * rows, p.steps * 64, columns, rows, zero, p.steps, 64 + p.slack,
      CopyOfRows(p, "p", "a", fmt::format("b * {}", rows), rows),
      CopyOfRows(p, "r", "w", "0", columns), product, store);
  const auto nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status() << "\n" << text;
  return nest.ok() ? *nest : loop::Nest();
}

const GroupProducts kGroupShapes[] = {
    {},
    {.dtype = "float16", .tiles = 2},
    {.warps = 8, .tiles = 8, .copy_threads = 256},
    {.tiles = 2, .lanes = 8},
    {.tiles = 6, .copy_threads = 64},
};

TEST(Warpgroup, ProductsAreTheSumsOfTheLoopsThatTheyMean) {
  HONE_SKIP_WITHOUT_CUDA();
  for (const GroupProducts& shape : kGroupShapes) {
    const loop::Nest nest = GroupNest(shape);
    SCOPED_TRACE(loop::ToText(nest));
    const std::string ptx = PtxOf(nest, kHopper);
    EXPECT_EQ(Count(ptx, fmt::format("m64n{}k16", shape.tiles * shape.lanes)), 4) << ptx;
    EXPECT_EQ(Count(ptx, "mma.sync"), 0) << ptx;
    ExpectCudaSameAsInterpreter(nest, kHopper, kGroupTolerance);
    if (HasFailure()) return;
  }
}

TEST(Warpgroup, WhatIsNoProductOfOneIsTheWorkOfWarps) {
  // Rows that are no swizzled ones, warps that are no whole group, and more lanes than there are.
  for (const GroupProducts& shape :
       {GroupProducts{.slack = 8}, GroupProducts{.warps = 2}, GroupProducts{.tiles = 18}}) {
    const std::string ptx = PtxOf(GroupNest(shape), kHopper);
    EXPECT_EQ(Count(ptx, "wgmma"), 0) << ptx;
    EXPECT_GT(Count(ptx, "mma.sync"), 0) << ptx;
  }
  EXPECT_EQ(Count(PtxOf(GroupNest({}), "cuda -arch=sm_90"), "wgmma"), 0);
}

TEST(Warpgroup, SumsAreInRegisters) {
  const std::string ptx = PtxOf(GroupNest({.tiles = 16}), kHopper);
  EXPECT_EQ(Count(ptx, ".local"), 0) << ptx;
  EXPECT_EQ(Count(ptx, "wgmma.fence"), 1) << ptx;
}

}  // namespace
}  // namespace hone::codegen
