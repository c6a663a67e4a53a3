// Defaults that follow what was measured of register tiles.
#include "compiler/schedule/micro_kernels.h"

#include "compiler/schedule/template.h"
#include "compiler/schedule/templates/register_tile.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

using Times = std::map<std::pair<int64_t, int64_t>, double>;

std::shared_ptr<const MicroKernelTimes> TimesOf(Times times) {
  return std::make_shared<const MicroKernelTimes>(std::move(times));
}

// Of every tile of 32 registers: two multiplications a cycle, but of `best` four.
std::shared_ptr<const MicroKernelTimes> AllAlikeBut(int64_t vectors, int64_t positions) {
  Times times;
  for (int64_t v = 1; v <= 8; ++v) {
    for (int64_t p = 1; v * p + v + 1 <= 32; ++p) {
      times[{v, p}] = static_cast<double>(v * p) / (v == vectors && p == positions ? 4 : 2);
    }
  }
  return TimesOf(std::move(times));
}

RegisterTileProblem Problem(int64_t vectors, int64_t columns) {
  RegisterTileProblem problem;
  problem.vectors = vectors;
  problem.columns = columns;
  problem.steps = 256;
  problem.shares_columns = true;
  return problem;
}

Target Avx512(int threads = 1) {
  return TestTarget(
      fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads={}", threads));
}

// A task with its definition.
struct OwnedTask {
  OwnedTask(const std::string& workload, const Target& target)
      : def(MustLower(workload)),
        chosen(TemplateFor(def)),
        task{&def, chosen.Signatures(def, target)[0], target} {}
  Config Default(std::shared_ptr<const MicroKernelTimes> times) const {
    Task with = task;
    with.micro_kernels = std::move(times);
    return chosen.Default(with);
  }

  ops::KernelDefinition def;
  const Template& chosen;
  Task task;
};

std::string Dense(int64_t rows, int64_t units, int64_t terms) {
  return fmt::format(
      "fn (p0: Tensor[({0}, {2}), float32], const p1: Tensor[({1}, {2}), float32]) {{ "
      "nn.dense(p0, p1) }} accumulate=float32 numerics=default",
      rows, units, terms);
}

constexpr char kConv[] =
    "fn (p0: Tensor[(1, 64, 56, 56), float32], const p1: Tensor[(64, 64, 1, 1), float32]) { "
    "nn.conv2d(p0, p1) } accumulate=float32 numerics=strict";
constexpr char kBatched[] =
    "fn (p0: Tensor[(12, 128, 64), float32], p1: Tensor[(12, 128, 64), float32]) { "
    "nn.batch_matmul(p0, p1) } accumulate=float32 numerics=default";

TEST(MicroKernels, TheFastestTileIsTaken) {
  RegisterTileProblem problem = Problem(32, 480);
  for (const auto& [v, p] : {std::pair<int64_t, int64_t>(4, 4), {2, 12}, {1, 20}, {3, 8}}) {
    problem.times = AllAlikeBut(v, p);
    const RegisterTile tile = BestTile(problem);
    EXPECT_EQ(tile.vectors, v);
    EXPECT_EQ(tile.columns, p);
  }
}

TEST(MicroKernels, EveryTemplateWithRegisterTilesTakesThem) {
  for (const std::string& workload :
       {Dense(480, 512, 256), std::string(kConv), std::string(kBatched)}) {
    const OwnedTask task(workload, Avx512());
    const RegisterTile tile = TileOf(task.Default(AllAlikeBut(4, 4)));
    EXPECT_EQ(tile.vectors, 4) << workload;
    EXPECT_EQ(tile.rows * tile.columns, 4) << workload;
  }
  std::string winograd =
      "fn (p0: Tensor[(1, 64, 56, 56), float32], const p1: Tensor[(64, 64, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) } accumulate=float32 numerics=default";
  const Config config = OwnedTask(winograd, Avx512()).Default(AllAlikeBut(4, 4));
  EXPECT_THAT(config.String("strategy"), testing::StartsWith("winograd"));
  const RegisterTile tile = TileOf(config);
  EXPECT_EQ(tile.vectors, 4) << config.ToText();
  EXPECT_EQ(tile.rows * tile.columns, 4) << config.ToText();
}

TEST(MicroKernels, WithoutATableOrWithAnEmptyOneDefaultsAreThoseOfTheRule) {
  for (const std::string& workload :
       {Dense(480, 512, 256), Dense(1, 1000, 2048), std::string(kConv)}) {
    for (const int threads : {1, 8}) {
      const OwnedTask task(workload, Avx512(threads));
      const Config rule = task.chosen.Default(task.task);
      EXPECT_EQ(task.Default(nullptr), rule) << workload;
      if (threads > 1) continue;  // their shares count with any table
      EXPECT_EQ(task.Default(TimesOf({})), rule) << workload;
    }
  }
}

TEST(MicroKernels, SpacesAndSchedulesDoNotDependOnThem) {
  OwnedTask task(kConv, Avx512());
  const Config config = task.chosen.Default(task.task);
  const int64_t leaves = task.chosen.MakeSpace(task.task).Count();
  const std::string digest = NestDigest(*task.chosen.Schedule(task.task, config));
  task.task.micro_kernels = AllAlikeBut(4, 4);
  EXPECT_EQ(task.chosen.MakeSpace(task.task).Count(), leaves);
  EXPECT_EQ(NestDigest(*task.chosen.Schedule(task.task, config)), digest);
}

TEST(MicroKernels, TailsCountAtTheirOwnTimes) {
  // Ten positions: as 8 + 2, as 5 + 5, or all at once. Twos are slow.
  RegisterTileProblem problem = Problem(2, 10);
  Times times = {{{2, 2}, 40},  {{2, 5}, 5.5}, {{2, 8}, 8},
                 {{2, 10}, 12}, {{1, 4}, 9},   {{1, 30}, 70}};
  problem.times = TimesOf(times);
  EXPECT_EQ(BestTile(problem).columns, 5);
  times[{2, 5}] = 7;
  problem.times = TimesOf(times);
  EXPECT_EQ(BestTile(problem).columns, 10);
}

TEST(MicroKernels, ThreadsGetEqualShares) {
  // Three groups of eight vectors are two rounds of two threads; four groups of six are too.
  RegisterTileProblem problem = Problem(24, 2);
  problem.shares_columns = false;
  problem.times = AllAlikeBut(8, 2);
  EXPECT_EQ(BestTile(problem).vectors, 8);
  Times times;
  for (const auto& [v, p, cycles] : {std::tuple<int64_t, int64_t, double>(8, 2, 7.6), {6, 2, 6}}) {
    times[{v, p}] = cycles;
  }
  for (int64_t v : {1, 2, 3, 4, 5, 7}) times[{v, 2}] = 3.0 * static_cast<double>(v);
  for (int64_t v = 1; v <= 8; ++v) times[{v, 1}] = 3.0 * static_cast<double>(v);
  problem.times = TimesOf(times);
  EXPECT_EQ(BestTile(problem).vectors, 8);
  problem.threads = 2;
  EXPECT_EQ(BestTile(problem).vectors, 6);
}

TEST(MicroKernels, AmongTilesAboutAsFastTheRuleDecides) {
  RegisterTileProblem problem = Problem(32, 480);
  const RegisterTile rule = BestTile(problem);
  for (const double share : {0.99, 0.80}) {
    MicroKernelTimes::ByTile times;
    for (int64_t v = 1; v <= 8; ++v) {
      for (int64_t p = 1; v * p + v + 1 <= 32; ++p) times[{v, p}] = static_cast<double>(v * p);
    }
    times[{4, 5}] *= share;
    problem.times = TimesOf(times);
    const RegisterTile tile = BestTile(problem);
    EXPECT_EQ(tile.vectors == 4 && tile.columns == 5, share < 0.9);
    if (share < 0.9) continue;
    EXPECT_EQ(tile.columns, rule.columns);
  }
}

TEST(MicroKernels, PanelsBeyondTheFirstCacheWantTilesOfManyPositions) {
  RegisterTileProblem problem = Problem(32, 480);
  Times times = {{{1, 30}, 60}};
  for (int64_t v = 2; v <= 8; ++v) {
    for (int64_t p = 1; v * p + v + 1 <= 32; ++p) times[{v, p}] = static_cast<double>(v * p);
  }
  times[{8, 2}] = 16 * 0.94;
  problem.times = TimesOf(times);
  problem.vector_bytes = 64;
  problem.l1_bytes = 1 << 20;
  problem.l2_bytes = 1 << 20;
  EXPECT_EQ(BestTile(problem).vectors, 8);
  problem.l1_bytes = 32 << 10;
  EXPECT_GE(BestTile(problem).columns, 8);
}

TEST(MicroKernels, BetweenWhatWasMeasuredTimesAreInterpolated) {
  const auto times = TimesOf({{{2, 4}, 4}, {{2, 8}, 10}, {{3, 2}, 7}});
  EXPECT_EQ(times->StepCycles(2, 4), 4);
  EXPECT_EQ(times->StepCycles(2, 6), 7);
  EXPECT_EQ(times->StepCycles(2, 1), 4);  // waits as long
  EXPECT_EQ(times->StepCycles(2, 9), std::nullopt);
  EXPECT_EQ(times->StepCycles(1, 4), std::nullopt);
  EXPECT_EQ(times->StepCycles(3, 1), 7);
}

std::vector<ConfigCost> CostsOf(const Target& target) {
  const OwnedTask task(MicroKernelTaskOf(target).workload, target);
  std::vector<ConfigCost> costs;
  for (const Config& config : TileConfigs(task.chosen.MakeSpace(task.task))) {
    // A pass over all tiles that does two multiplications a cycle, tiles of one vector half.
    const RegisterTile tile = TileOf(config);
    const auto part = static_cast<double>(tile.vectors * tile.rows * tile.columns);
    const double cycles = part * 64 / (tile.vectors == 1 ? 1 : 2) + TileOverhead(tile);
    costs.push_back({config.ToText(), 3e-7 * cycles / part});
  }
  return costs;
}

TEST(MicroKernels, CostsOfAnyUnitBecomeCyclesOfTwoMultiplications) {
  const auto times = MicroKernelTimes::Of(Avx512(), CostsOf(Avx512()));
  ASSERT_NE(times, nullptr);
  EXPECT_NEAR(*times->StepCycles(4, 6), 12, 1e-9);
  EXPECT_NEAR(*times->StepCycles(2, 14), 14, 1e-9);
  EXPECT_NEAR(*times->StepCycles(1, 14), 14, 1e-9);
}

TEST(MicroKernels, ATableThatLacksATileIsNone) {
  std::vector<ConfigCost> costs = CostsOf(Avx512());
  EXPECT_EQ(static_cast<int64_t>(costs.size()), MicroKernelTaskOf(Avx512()).trials);
  costs[3].cost = 0;  // it failed: settled all the same
  EXPECT_NE(MicroKernelTimes::Of(Avx512(), costs), nullptr);
  costs.pop_back();
  EXPECT_EQ(MicroKernelTimes::Of(Avx512(), costs), nullptr);
  EXPECT_EQ(MicroKernelTimes::Of(Avx512(), {}), nullptr);
}

TEST(MicroKernels, OneTaskServesAnyNumberOfThreads) {
  EXPECT_EQ(MicroKernelTaskOf(Avx512(1)).target, MicroKernelTaskOf(Avx512(16)).target);
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const Target target = TestTarget(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={}", cpu));
    const MicroKernelTask task = MicroKernelTaskOf(target);
    EXPECT_EQ(MustLower(task.workload).workload.text, task.workload);
    EXPECT_GT(task.trials, 20);
    EXPECT_LT(task.trials, 250);
  }
}

}  // namespace
}  // namespace hone::schedule
