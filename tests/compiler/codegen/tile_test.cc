// Loops marked `tile`: in tile registers where the target has them, and everywhere with what the
// interpreter says, of bytes to the bit.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/loop/parser.h"
#include "runtime/host_cpu.h"
#include "runtime/tile_permission.h"
#include "tests/compiler/codegen/harness.h"

namespace hone::codegen {
namespace {

constexpr char kSapphireRapids[] = "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids";

// c[m, n] = sum a[m, k] * b[n, k]: `tiles` by `vectors` tiles of `rows` rows, and tiles of `tail`
// rows behind them, summed over `blocks` times `steps` dot products.
struct Products {
  std::string left = "bfloat16", right = "bfloat16";
  int64_t rows = 16, steps = 16;
  int64_t tiles = 2, vectors = 2, blocks = 3;
  int64_t tail = 0;

  bool OfBytes() const { return left != "bfloat16"; }
  int64_t Dot() const { return OfBytes() ? 4 : 2; }
  std::string Sum() const { return OfBytes() ? "int32" : "float32"; }
};

std::string Zero(const std::string& row, int64_t rows, const Products& p) {
  return fmt::format("tile m in 0..{} {{ vectorize n in 0..16 {{ %s[{}, v * 16 + n] = {} }} }}\n",
                     rows, row, p.OfBytes() ? "int32(0)" : "0.0");
}

std::string Multiply(const std::string& row, int64_t rows, const Products& p) {
  const std::string term = p.steps > 1 ? fmt::format("(o * {} + k) * {} + d", p.steps, p.Dot())
                                       : fmt::format("o * {} + d", p.Dot());
  const std::string lanes = fmt::format(
      "vectorize n in 0..16 {{ dot d in 0..{1} {{ %s[{0}, v * 16 + n] = %s[{0}, v * 16 + n] + "
      "cast<{2}>(%a[{0}, {3}]) * cast<{2}>(%b[v * 16 + n, {3}]) }} }}",
      row, p.Dot(), p.Sum(), term);
  const std::string steps =
      p.steps > 1 ? fmt::format("for k in 0..{} {{ {} }}", p.steps, lanes) : lanes;
  return fmt::format("tile m in 0..{} {{ {} }}\n", rows, steps);
}

std::string Store(const std::string& row, int64_t rows) {
  return fmt::format(
      "tile m in 0..{0} {{ vectorize n in 0..16 {{ %c[{1}, v * 16 + n] = %s[{1}, v * 16 + n] }} "
      "}}\n",
      rows, row);
}

loop::Nest TileNest(const Products& p) {
  const int64_t columns = p.vectors * 16, terms = p.blocks * p.steps * p.Dot();
  const int64_t whole = p.tiles * p.rows;
  const auto all = [&](const auto& operation) {
    std::string text = fmt::format("unroll r in 0..{} {{ unroll v in 0..{} {{ {} }} }}\n", p.tiles,
                                   p.vectors, operation(fmt::format("r * {} + m", p.rows), p.rows));
    if (p.tail == 0) return text;
    return text + fmt::format("unroll v in 0..{} {{ {} }}\n", p.vectors,
                              operation(fmt::format("{} + m", whole), p.tail));
  };
  const std::string zero =
      all([&](const std::string& row, int64_t rows) { return Zero(row, rows, p); });
  const std::string multiply =
      all([&](const std::string& row, int64_t rows) { return Multiply(row, rows, p); });
  const std::string store = all(Store);
  const std::string text = fmt::format(
      "nest @tiles {{\n"
      "input %a: {0}[{2}, {3}] NC\ninput %b: {1}[{4}, {3}] NC16n{5}c\noutput %c: {6}[{2}, {4}] NC\n"
      "run @tiles {{ alloc tile %s: {6}[{2}, {4}] NC16c {{\n{7}"
      "for o in 0..{8} {{\n{9}}}\n{10} }} }} }}\n",
      p.left, p.right, whole + p.tail, terms, columns, p.Dot(), p.Sum(), zero, p.blocks, multiply,
      store);
  const auto nest = loop::ParseNest(text);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString() << "\n" << text;
  return nest.ok() ? *nest : loop::Nest();
}

std::string AssemblyOf(const Products& products, const std::string& target = kSapphireRapids) {
  const auto assembly = EmitAssembly(ArtifactOf(TileNest(products), TestTarget(target)));
  EXPECT_TRUE(assembly.ok()) << assembly.status().ToString();
  return assembly.ok() ? *assembly : "";
}

// Whether code for the target runs here; says so where it does not.
bool HostHasTiles() {
  const std::vector<std::string>& host = HostFeatures();
  std::string refusal;
  return std::find(host.begin(), host.end(), "amx-tile") != host.end() && AskForTiles(&refusal);
}

std::vector<std::string> TileTargets() {
  std::vector<std::string> targets;
  for (const char* cpu : {"x86-64-v2", "x86-64-v4"}) {
    targets.push_back(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={}", cpu));
  }
  if (HostHasTiles()) targets.emplace_back("native");
  return targets;
}

const Products kShapes[] = {
    {},
    {.tiles = 1, .vectors = 1},
    {.tiles = 3, .vectors = 1},
    {.tiles = 1, .vectors = 4, .blocks = 1},
    {.tiles = 3, .vectors = 2},
    {.rows = 7, .steps = 8},
    {.rows = 2, .steps = 1, .tiles = 4, .vectors = 1},
    {.rows = 13, .steps = 3, .tiles = 1, .tail = 5},
    {.rows = 9, .tiles = 2, .vectors = 1, .tail = 8},
    {.tiles = 4, .vectors = 3},  // more sums than registers
};

TEST(Tile, OfBFloat16IsTheSumOfTheLoopItMeans) {
  for (const std::string& target : TileTargets()) {
    for (const Products& shape : kShapes) {
      SCOPED_TRACE(fmt::format("{} by {} of {} rows, {} steps, {}", shape.tiles, shape.vectors,
                               shape.rows, shape.steps, target));
      ExpectSameAsInterpreter(TileNest(shape), 1e-5, target);
      if (HasFailure()) return;
    }
  }
}

TEST(Tile, HasTheBitsOfTheLoopItMeans) {
  for (const std::string& target : TileTargets()) {
    for (Products shape : kShapes) {
      for (const char* left : {"uint8", "int8"}) {
        for (const char* right : {"uint8", "int8"}) {
          shape.left = left;
          shape.right = right;
          SCOPED_TRACE(fmt::format("{} by {} of {} rows, {} steps, {} by {}, {}", shape.tiles,
                                   shape.vectors, shape.rows, shape.steps, left, right, target));
          ExpectSameAsInterpreter(TileNest(shape), 0, target);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(Tile, IsTheInstructionOfItsTypes) {
  EXPECT_EQ(Count(AssemblyOf({}), "tdpbf16ps"), 4);
  EXPECT_EQ(Count(AssemblyOf({.left = "uint8", .right = "int8"}), "tdpbusd"), 4);
  EXPECT_EQ(Count(AssemblyOf({.left = "int8", .right = "uint8"}), "tdpbsud"), 4);
  EXPECT_EQ(Count(AssemblyOf({.left = "int8", .right = "int8"}), "tdpbssd"), 4);
  EXPECT_EQ(Count(AssemblyOf({.left = "uint8", .right = "uint8"}), "tdpbuud"), 4);
  EXPECT_EQ(Count(AssemblyOf({}, "llvm -mtriple=x86_64-linux-gnu -mcpu=znver5"), "tdpb"), 0);
}

TEST(Tile, FactorsAreLoadedOnceWhereRegistersAreLeft) {
  EXPECT_EQ(Count(AssemblyOf({}), "tileloadd"), 4);
  EXPECT_EQ(Count(AssemblyOf({.tiles = 3, .vectors = 1}), "tileloadd"), 4);
  EXPECT_EQ(Count(AssemblyOf({.tiles = 1, .vectors = 4}), "tileloadd"), 5);
  // Six sums leave a register for each factor.
  EXPECT_EQ(Count(AssemblyOf({.tiles = 3, .vectors = 2}), "tileloadd"), 9);
}

TEST(Tile, ShapesAreSetOnce) {
  const std::string assembly = AssemblyOf({.rows = 9, .vectors = 1, .tail = 8});
  EXPECT_EQ(Count(assembly, "ldtilecfg"), 1);
  EXPECT_EQ(Count(assembly, "tilerelease"), 1);
  EXPECT_EQ(Count(assembly, "tilestored"), 3);
}

TEST(Tile, SumsBeyondTheRegistersAreInMemory) {
  const std::string assembly = AssemblyOf({.tiles = 4, .vectors = 3});
  EXPECT_EQ(Count(assembly, "tdpb"), 0);
  EXPECT_EQ(Count(assembly, "ldtilecfg"), 0);
  EXPECT_GT(Count(assembly, "vdpbf16ps"), 0);
}

}  // namespace
}  // namespace hone::codegen
