// Products summed a chunk of the steps after the other, for all tiles of a block of rows.
#include <algorithm>

#include "compiler/schedule/ceil_div.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/dense_text.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

// Both operands lie across the steps.
std::string StackText(int64_t b, int64_t m, int64_t n, int64_t k) {
  return fmt::format(
      "fn (p0: Tensor[({0}, {3}, {1}), float32], p1: Tensor[({0}, {3}, {2}), float32]) {{ %0 = "
      "transpose(p0, axes=[0, 2, 1]); %1 = transpose(p1, axes=[0, 2, 1]); nn.batch_matmul(%0, %1) "
      "}} accumulate=float32 numerics=default",
      b, m, n, k);
}

std::string Narrow(const char* caches) {
  return fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 -caches={} -threads=2",
                     caches);
}

// How many configs of a space with and without chunks were checked, each against the naive nest.
struct Checked {
  int whole = 0;
  int chunks = 0;
};

Checked CheckChunks(const std::string& text, const CpuTarget& target, uint64_t seed) {
  const ops::KernelDefinition def = MustLower(text);
  const Template& dense = TemplateFor(def);
  const Task task{&def, dense.Signatures(def, machine::Machine::For(target))[0], target};
  const Space space = SpaceOfTask(task);
  Random random(seed);
  Checked checked;
  for (int i = 0; i < 60 && checked.chunks < 4; ++i) {
    const Config config = space.Sample(random);
    if (!config.Has("chunk")) continue;
    const bool chunks = config.Int("chunk") > 0;
    if (!chunks && checked.whole > 0) continue;
    const auto nest = NestOfConfig(task, config);
    EXPECT_TRUE(nest.ok()) << text << config.ToText() << nest.status();
    if (!nest.ok()) break;
    ExpectSameResults(def.naive, *nest, seed, text + "\n" + config.ToText() + "\n");
    if (testing::Test::HasFailure()) break;
    ++(chunks ? checked.chunks : checked.whole);
  }
  return checked;
}

// Chunks, blocks of rows and tiles that end anywhere.
TEST(DenseChunks, ComputeWhatTheNaiveNestDoes) {
  const CpuTarget target = TestTarget(Narrow("1024,4096,65536"));
  const int64_t shapes[][3] = {{5, 9, 131}, {13, 4, 128}, {33, 17, 140}, {64, 5, 97}, {7, 31, 256}};
  Checked all;
  uint64_t seed = 1;
  for (const auto& [m, n, k] : shapes) {
    for (const std::string& text :
         {DenseText(m, n, k, true, true), DenseText(m, n, k, false, false), StackText(2, m, n, k),
          StackText(1, m, 4 * n, k)}) {
      const Checked checked = CheckChunks(text, target, seed++);
      all.whole += checked.whole;
      all.chunks += checked.chunks;
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(all.chunks, 50);
  EXPECT_GE(all.whole, 10);
}

// Panels that take turns, the last of them and the last block of them smaller.
TEST(DenseChunks, OfPanelsThatOneTileReads) {
  const CpuTarget target = TestTarget(Narrow("1024,65536,1048576"));
  Checked all;
  uint64_t seed = 1;
  for (const int64_t m : {1, 2, 3, 7}) {
    for (const int64_t n : {8, 20, 100, 188}) {
      const Checked checked = CheckChunks(StackText(1 + m % 2, m, n, 24 + 3 * m), target, seed++);
      all.whole += checked.whole;
      all.chunks += checked.chunks;
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(all.chunks, 30);
}

// What fits the second cache is read from there, and one tile reads it once: no knob, so that
// configs are what they were.
TEST(DenseChunks, AreOfferedWhereAPanelIsReadAgainFromAfar) {
  const CpuTarget target = TestTarget(Narrow("32768,1048576,33554432"));
  const auto offers = [&](int64_t m, int64_t k) {
    const ops::KernelDefinition def = MustLower(DenseText(m, 4096, k, false, true));
    const Template& dense = TemplateFor(def);
    const Task task{&def, dense.Signatures(def, machine::Machine::For(target))[0], target};
    const Config config = DefaultOfTask(task);
    EXPECT_TRUE(SpaceOfTask(task).Contains(config)) << config.ToText();
    return config.Has("chunk");
  };
  EXPECT_FALSE(offers(64, 1024));
  EXPECT_FALSE(offers(1, 65536));
  EXPECT_TRUE(offers(64, 65536));
}

// A configuration that says nothing of chunks is the nest without.
TEST(DenseChunks, WithoutAreTheNestOfBefore) {
  const CpuTarget target = TestTarget(Narrow("1024,4096,65536"));
  const ops::KernelDefinition def = MustLower(DenseText(33, 17, 140, true, true));
  const Template& dense = TemplateFor(def);
  const Task task{&def, dense.Signatures(def, machine::Machine::For(target))[0], target};
  Config config = DefaultOfTask(task);
  ASSERT_TRUE(config.Has("chunk"));
  EXPECT_EQ(config.Int("chunk"), 0);
  Config before;
  for (const auto& [name, value] : config.entries()) {
    if (name != "chunk") before.Set(name, value);
  }
  const auto migrated = SpaceOfTask(task).Migrate(before);
  ASSERT_TRUE(migrated.has_value());
  EXPECT_EQ(migrated->ToText(), config.ToText());
}

TEST(DenseChunks, ByDefaultInPlace) {
  const CpuTarget target = TestTarget(
      "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches=49152,1048576,33554432 -threads=1");
  const auto chunk = [&](const std::string& text) {
    const ops::KernelDefinition def = MustLower(text);
    const Template& dense = TemplateFor(def);
    return DefaultOfTask({&def, dense.Signatures(def, machine::Machine::For(target))[0], target})
        .Int("chunk");
  };
  EXPECT_GT(chunk(StackText(1, 128, 512, 32768)), 0);
  EXPECT_EQ(chunk(StackText(1, 256, 1024, 4608)), 0);
  EXPECT_EQ(chunk(StackText(1, 1, 1024, 128)), 8);
  EXPECT_EQ(chunk(StackText(1, 4, 1024, 128)), 0);
  EXPECT_EQ(chunk(DenseText(128, 512, 32768, false, true)), 0);
}

int64_t GridOf(const loop::Launch& launch) {
  int64_t grid = 1;
  for (loop::Stmt s = launch.body;
       s->kind == loop::StmtKind::kFor && s->loop_kind == loop::LoopKind::kParallel;
       s = s->body[0]) {
    int64_t extent = 0;
    EXPECT_TRUE(loop::IsConstInt(s->extent, &extent));
    grid *= extent;
  }
  return grid;
}

// There is one panel, whose sums all fit the first cache.
TEST(DenseChunks, ThreadsShareTheTilesOfAPanel) {
  for (const int threads : {1, 2, 8, 64}) {
    const CpuTarget target =
        TestTarget(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 "
                               "-caches=32768,1048576,33554432 -threads={}",
                               threads));
    const ops::KernelDefinition def = MustLower(StackText(1, 128, 64, 16384));
    const Template& dense = TemplateFor(def);
    const Task task{&def, dense.Signatures(def, machine::Machine::For(target))[0], target};
    const Config config = DefaultOfTask(task);
    const auto nest = NestOfConfig(task, config);
    ASSERT_TRUE(nest.ok()) << config.ToText() << nest.status();
    const int64_t tiles = CeilDiv(128, config.Int("tile_w"));
    EXPECT_GE(GridOf(nest->launches.back()), std::min<int64_t>(tiles, threads)) << config.ToText();
  }
}

}  // namespace
}  // namespace hone::schedule
