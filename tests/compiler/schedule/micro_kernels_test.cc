// Defaults that follow what was measured of register tiles.
#include "compiler/schedule/micro_kernels.h"

#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/template.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

using TileTimes = std::map<std::pair<int64_t, int64_t>, double>;

std::shared_ptr<const MicroKernelTimes> TimesOf(TileTimes times) {
  return std::make_shared<const MicroKernelTimes>(std::move(times));
}

// The times of every tile of 32 registers: two multiplications a cycle, but four for the one of so
// many vectors and positions.
std::shared_ptr<const MicroKernelTimes> AllAlikeBut(int64_t vectors, int64_t positions) {
  TileTimes times;
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

CpuTarget Avx512(int threads = 1) {
  return TestTarget(
      fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -threads={}", threads));
}

// A task with its definition.
struct OwnedTask {
  OwnedTask(const std::string& workload, const CpuTarget& target)
      : def(MustLower(workload)),
        chosen(TemplateFor(def)),
        task{&def, chosen.Signatures(def, machine::Machine::For(target))[0], target} {}
  Config Default(std::shared_ptr<const MicroKernelTimes> times) const {
    Task with = task;
    with.micro_kernels = std::move(times);
    return DefaultOfTask(with);
  }

  ops::KernelDefinition def;
  const Template& chosen;
  Task task;
};

std::string DenseKernel(int64_t rows, int64_t units, int64_t terms) {
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

constexpr char kAttention[] =
    "fn (p0: Tensor[(12, 128, 64), float32], p1: Tensor[(12, 128, 64), float32], p2: Tensor[(12, "
    "64, 128), float32]) { %0 = nn.batch_matmul(p0, p1); %1 = nn.softmax(%0, axis=-1); "
    "nn.batch_matmul(%1, p2) } accumulate=float32 numerics=default";

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
  for (const std::string& workload : {DenseKernel(480, 512, 256), std::string(kConv),
                                      std::string(kBatched), std::string(kAttention)}) {
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
       {DenseKernel(480, 512, 256), DenseKernel(1, 1000, 2048), std::string(kConv)}) {
    for (const int threads : {1, 8}) {
      const OwnedTask task(workload, Avx512(threads));
      const Config rule = DefaultOfTask(task.task);
      EXPECT_EQ(task.Default(nullptr), rule) << workload;
      if (threads > 1) continue;  // their shares count with any table
      EXPECT_EQ(task.Default(TimesOf({})), rule) << workload;
    }
  }
}

TEST(MicroKernels, SpacesAndSchedulesDoNotDependOnThem) {
  OwnedTask task(kConv, Avx512());
  const Config config = DefaultOfTask(task.task);
  const int64_t leaves = SpaceOfTask(task.task).Count();
  const std::string digest = NestDigest(*NestOfConfig(task.task, config));
  task.task.micro_kernels = AllAlikeBut(4, 4);
  EXPECT_EQ(SpaceOfTask(task.task).Count(), leaves);
  EXPECT_EQ(NestDigest(*NestOfConfig(task.task, config)), digest);
}

TEST(MicroKernels, TailsCountAtTheirOwnTimes) {
  // Ten positions: as 8 + 2, as 5 + 5, or all at once. Twos are slow.
  RegisterTileProblem problem = Problem(2, 10);
  TileTimes times = {{{2, 2}, 40},  {{2, 5}, 5.5}, {{2, 8}, 8},
                     {{2, 10}, 15}, {{1, 4}, 9},   {{1, 30}, 70}};
  problem.times = TimesOf(times);
  EXPECT_EQ(BestTile(problem).columns, 5);
  times[{2, 5}] = 7.5;
  problem.times = TimesOf(times);
  EXPECT_EQ(BestTile(problem).columns, 10);
}

// More rows than a set of the first cache has lines evict each other when they are whole pages
// apart: a product of 1024 rows by 1024 terms took a quarter longer in tiles of 14.
TEST(MicroKernels, RowsWholePagesApartAreNoMoreThanTheirLinesInTheCache) {
  RegisterTileProblem problem = Problem(64, 1024);
  problem.l1_bytes = 32768;
  problem.steps_at_once = 4;
  const auto columns = [&](int64_t bytes) {
    problem.column_bytes = bytes;
    return BestTile(problem).columns;
  };
  const int64_t side_by_side = columns(0);
  EXPECT_GT(side_by_side, 8);
  EXPECT_LE(columns(4096), 8);
  EXPECT_LE(columns(3 * 4096), 8);
  EXPECT_EQ(columns(1024), side_by_side);  // 32 lines
  EXPECT_EQ(columns(4096 + 64), side_by_side);
  problem.l1_bytes = 0;  // not known
  EXPECT_EQ(columns(4096), side_by_side);
}

TEST(MicroKernels, ThreadsGetEqualShares) {
  // Three groups of eight vectors are two rounds of two threads; four groups of six are too.
  RegisterTileProblem problem = Problem(24, 2);
  problem.shares_columns = false;
  problem.times = AllAlikeBut(8, 2);
  EXPECT_EQ(BestTile(problem).vectors, 8);
  TileTimes times;
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
  TileTimes times = {{{1, 30}, 60}};
  for (int64_t v = 2; v <= 8; ++v) {
    for (int64_t p = 1; v * p + v + 1 <= 32; ++p) times[{v, p}] = static_cast<double>(v * p);
  }
  times[{8, 2}] = 16 * 0.84;
  problem.times = TimesOf(times);
  problem.vector_bytes = 64;
  problem.l1_bytes = 1 << 20;
  problem.l2_bytes = 1 << 20;
  EXPECT_EQ(BestTile(problem).vectors, 8);
  problem.l1_bytes = 32 << 10;
  EXPECT_GE(BestTile(problem).columns, 8);
}

// Panels of one vector stay in the second cache, those of more do not.
TEST(MicroKernels, ASlowStreamWantsPanelsThatStayInTheSecondCache) {
  RegisterTileProblem problem = Problem(32, 480);
  problem.steps = 4096;
  problem.vector_bytes = 64;
  problem.l1_bytes = 1 << 20;
  problem.l2_bytes = 512 << 10;
  problem.times = AllAlikeBut(8, 2);
  problem.stream_bytes_a_cycle = 200;
  EXPECT_EQ(BestTile(problem).vectors, 8);
  problem.stream_bytes_a_cycle = 4;
  EXPECT_EQ(BestTile(problem).vectors, 1);
}

// With 512 channels a tile of three vectors is faster than one of one whose panels fit half a
// megabyte.
TEST(MicroKernels, PanelsThatAreReadOnceByChunksMayBeLarge) {
  RegisterTileProblem problem = Problem(32, 480);
  problem.steps = 512 * 9;
  problem.vector_bytes = 32;
  problem.l1_bytes = 32 << 10;
  problem.l2_bytes = 512 << 10;
  problem.times = AllAlikeBut(3, 4);
  problem.stream_bytes_a_cycle = 4;
  EXPECT_LT(BestTile(problem).vectors, 3);
  problem.chunk_steps = 8 * 9;
  EXPECT_EQ(BestTile(problem).vectors, 3);
  problem.rows = 128;  // the sums of an eighth of them do not stay near
  EXPECT_LT(BestTile(problem).vectors, 3);
  problem.rows = 1;
  problem.chunk_steps = 512 * 9;  // no part that stays in the first cache
  EXPECT_LT(BestTile(problem).vectors, 3);
}

TEST(MicroKernels, ByDefaultConvolutionsByChunksHaveLargePanels) {
  const std::string workload =
      "fn (p0: Tensor[(1, 512, 7, 7), float32], const p1: Tensor[(512, 512, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) } accumulate=float32 numerics=strict";
  const OwnedTask task(workload, TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 "
                                            "-caches=32768,524288,33554432"));
  const Config config = task.Default(AllAlikeBut(3, 4));
  EXPECT_EQ(config.Int("tile_v"), 3) << config.ToText();
  EXPECT_GT(config.Int("chunk"), 0) << config.ToText();
}

TEST(MicroKernels, ASlowStreamMakesTransformedFiltersDear) {
  const std::string workload =
      "fn (p0: Tensor[(1, 512, 7, 7), float32], const p1: Tensor[(512, 512, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) } accumulate=float32 numerics=default";
  const OwnedTask task(workload, TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 "
                                            "-caches=49152,2097152,503316480"));
  const auto with = [&](double stream) {
    return task.Default(std::make_shared<const MicroKernelTimes>(TileTimes(), stream));
  };
  EXPECT_EQ(with(40).String("strategy"), "winograd4");
  EXPECT_EQ(with(40).Int("chunk"), 0);
  const Config slow = with(3);  // the filters as they are, four times fewer
  EXPECT_TRUE(slow.String("strategy") == "direct" || slow.Int("chunk") > 0) << slow.ToText();
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

constexpr double kCostOfCycle = 3e-7 / (168 * 24);

// A pass over all tiles that does two multiplications a cycle, tiles of one vector half.
double CyclesOfTiles(const RegisterTile& tile) {
  const auto part = static_cast<double>(tile.vectors * tile.rows * tile.columns);
  const double cycles = part * 64 / (tile.vectors == 1 ? 1 : 2) + TileOverhead(tile);
  return 168 * 24 * cycles / part;
}

// Eight bytes a cycle of a stream of four second caches, to whole vectors of units; tiles of a few
// vectors half of them.
double CyclesOfStream(const CpuTarget& target, const RegisterTile& tile) {
  return static_cast<double>(4 * target.facts.l2_bytes) / (tile.vectors < 5 ? 4 : 8);
}

std::vector<std::vector<ConfigCost>> CostsOf(const CpuTarget& target) {
  std::vector<std::vector<ConfigCost>> costs;
  for (const MicroKernelTask& measured : MicroKernelTasksOf(target)) {
    const OwnedTask task(measured.workload, target);
    costs.emplace_back();
    for (const Config& config : TileConfigs(SpaceOfTask(task.task))) {
      const RegisterTile tile = TileOf(config);
      const double cycles =
          measured.name == "tiles" ? CyclesOfTiles(tile) : CyclesOfStream(target, tile);
      costs.back().push_back({config.ToText(), kCostOfCycle * cycles, ""});
    }
  }
  return costs;
}

TEST(MicroKernels, CostsOfAnyUnitBecomeCyclesOfTwoMultiplications) {
  const auto times = MicroKernelTimes::Of(Avx512(), CostsOf(Avx512()));
  ASSERT_NE(times, nullptr);
  EXPECT_NEAR(*times->StepCycles(4, 6), 12, 1e-9);
  EXPECT_NEAR(*times->StepCycles(2, 14), 14, 1e-9);
  EXPECT_NEAR(*times->StepCycles(1, 14), 14, 1e-9);
  EXPECT_NEAR(*times->StreamBytesACycle(), 8, 0.2);
}

TEST(MicroKernels, ATableThatLacksATileIsNone) {
  std::vector<std::vector<ConfigCost>> costs = CostsOf(Avx512());
  EXPECT_EQ(costs[0].size(), MicroKernelTasksOf(Avx512())[0].configs.size());
  costs[0][3].cost = 0;  // it failed: settled all the same
  EXPECT_NE(MicroKernelTimes::Of(Avx512(), costs), nullptr);
  costs[0].pop_back();
  EXPECT_EQ(MicroKernelTimes::Of(Avx512(), costs), nullptr);
  costs[0].clear();
  EXPECT_EQ(MicroKernelTimes::Of(Avx512(), costs), nullptr) << "a stream is told in their cycles";
  EXPECT_EQ(MicroKernelTimes::Of(Avx512(), {}), nullptr);
}

TEST(MicroKernels, TilesWithoutAStreamAreATable) {
  std::vector<std::vector<ConfigCost>> costs = CostsOf(Avx512());
  EXPECT_EQ(costs[1].size(), MicroKernelTasksOf(Avx512())[1].configs.size());
  const auto whole = MicroKernelTimes::Of(Avx512(), costs);
  costs[1].pop_back();
  const auto partial = MicroKernelTimes::Of(Avx512(), costs);
  costs[1].clear();
  const auto without = MicroKernelTimes::Of(Avx512(), costs);
  ASSERT_NE(without, nullptr);
  EXPECT_EQ(without->StepCycles(4, 6), whole->StepCycles(4, 6));
  EXPECT_EQ(without->StreamBytesACycle(), std::nullopt);
  EXPECT_EQ(*partial, *without);
  EXPECT_NE(*partial, *whole);
}

void BuiltWith(const std::string& toolchain, std::vector<ConfigCost>& costs) {
  for (ConfigCost& cost : costs) cost.toolchain = toolchain;
}

// The costs of two toolchains, the newer's tiles of several vectors half as fast and its stream,
// too.
std::vector<std::vector<ConfigCost>> CostsOfTwoToolchains(const CpuTarget& target) {
  std::vector<std::vector<ConfigCost>> costs = CostsOf(target);
  for (size_t task = 0; task < costs.size(); ++task) {
    std::vector<ConfigCost> newer = costs[task];
    BuiltWith("old", costs[task]);
    BuiltWith("new", newer);
    for (ConfigCost& cost : newer) {
      if (task == 1 || TileOf(*Config::Parse(cost.config)).vectors > 1) cost.cost *= 2;
    }
    costs[task].insert(costs[task].end(), newer.begin(), newer.end());
  }
  return costs;
}

std::vector<std::vector<ConfigCost>> Only(const std::string& toolchain,
                                          std::vector<std::vector<ConfigCost>> costs) {
  for (std::vector<ConfigCost>& of_task : costs) {
    std::erase_if(of_task, [&](const ConfigCost& cost) { return cost.toolchain != toolchain; });
  }
  return costs;
}

TEST(MicroKernels, OfToolchainsThatAreWholeTheNewestIsTaken) {
  std::vector<std::vector<ConfigCost>> costs = CostsOfTwoToolchains(Avx512());
  const auto older = MicroKernelTimes::Of(Avx512(), Only("old", costs));
  const auto newer = MicroKernelTimes::Of(Avx512(), Only("new", costs));
  ASSERT_NE(*older, *newer);
  EXPECT_EQ(*MicroKernelTimes::Of(Avx512(), costs), *newer);
  const ConfigCost last = costs[0].back();
  costs[0].pop_back();  // the newer's are not whole any more
  EXPECT_EQ(*MicroKernelTimes::Of(Avx512(), costs), *older);
  costs[0].push_back({last.config, 0, ""});  // it could not be built
  EXPECT_NE(*MicroKernelTimes::Of(Avx512(), costs), *older);
}

TEST(MicroKernels, AStreamOfTheTilesToolchainIsPreferredToANewerOne) {
  std::vector<std::vector<ConfigCost>> costs = CostsOfTwoToolchains(Avx512());
  const auto older = MicroKernelTimes::Of(Avx512(), Only("old", costs));
  costs[0] = Only("old", costs)[0];
  EXPECT_EQ(*MicroKernelTimes::Of(Avx512(), costs), *older);
  costs[1] = Only("new", costs)[1];
  const auto mixed = MicroKernelTimes::Of(Avx512(), costs);
  EXPECT_EQ(mixed->StepCycles(4, 6), older->StepCycles(4, 6));
  EXPECT_NEAR(*mixed->StreamBytesACycle(), *older->StreamBytesACycle() / 2, 1e-9);
}

// Nothing is measured twice: a calibration that another toolchain continued is whole all the same.
TEST(MicroKernels, WhereNoToolchainIsWholeTheNewestTimeOfEachConfigCounts) {
  const std::vector<std::vector<ConfigCost>> both = CostsOfTwoToolchains(Avx512());
  std::vector<std::vector<ConfigCost>> costs = Only("old", both);
  const std::vector<std::vector<ConfigCost>> newer = Only("new", both);
  for (size_t task = 0; task < costs.size(); ++task) {
    costs[task].pop_back();
    costs[task].insert(costs[task].end(), newer[task].begin() + 1, newer[task].end());
  }
  const auto times = MicroKernelTimes::Of(Avx512(), costs);
  ASSERT_NE(times, nullptr);
  EXPECT_EQ(times->StepCycles(4, 6), MicroKernelTimes::Of(Avx512(), newer)->StepCycles(4, 6));
  EXPECT_NE(times->StreamBytesACycle(), std::nullopt);
  costs[0].pop_back();
  EXPECT_EQ(MicroKernelTimes::Of(Avx512(), costs), nullptr) << "one is of no toolchain";
}

TEST(MicroKernels, AStreamThatFailedIsNotMeasured) {
  std::vector<std::vector<ConfigCost>> costs = CostsOf(Avx512());
  for (ConfigCost& cost : costs[1]) cost.cost = 0;
  const auto times = MicroKernelTimes::Of(Avx512(), costs);
  ASSERT_NE(times, nullptr);
  EXPECT_EQ(times->StreamBytesACycle(), std::nullopt);
}

TEST(MicroKernels, TheSameTasksServeAnyNumberOfThreads) {
  EXPECT_EQ(MicroKernelTasksOf(Avx512(1))[1].target, MicroKernelTasksOf(Avx512(16))[1].target);
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const CpuTarget target =
        TestTarget(fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu={}", cpu));
    int64_t trials = 0;
    for (const MicroKernelTask& task : MicroKernelTasksOf(target)) {
      EXPECT_EQ(MustLower(task.workload).workload.text, task.workload);
      trials += static_cast<int64_t>(task.configs.size());
    }
    EXPECT_GT(trials, 20);
    EXPECT_LT(trials, 250);
  }
}

// A search proposes the default first: it is no trial more than are said.
TEST(MicroKernels, DefaultsAreAmongTheConfigsThatAreMeasured) {
  for (const MicroKernelTask& measured : MicroKernelTasksOf(Avx512())) {
    const OwnedTask task(measured.workload, Avx512());
    EXPECT_THAT(TileConfigs(SpaceOfTask(task.task)), testing::Contains(task.Default(nullptr)));
  }
}

TEST(MicroKernels, TheStreamLeavesTheSecondCacheAndStaysInTheLast) {
  for (const char* caches : {"32768,1048576,33554432", "49152,2097152,503316480"}) {
    const CpuTarget target = TestTarget(
        fmt::format("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -caches={}", caches));
    const MicroKernelTask stream = MicroKernelTasksOf(target)[1];
    EXPECT_GE(stream.constant_bytes, 16 * target.facts.l2_bytes);
    EXPECT_LE(stream.constant_bytes, target.facts.l3_bytes / 2);
  }
}

TEST(MicroKernels, BeforeAStreamIsMeasuredTheCpuSaysWhatIsUsual) {
  const CpuTarget mesh = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids");
  const CpuTarget other = TestTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=znver5");
  EXPECT_EQ(StreamBytesOf(nullptr, machine::Machine::For(other)), std::nullopt);
  EXPECT_EQ(StreamBytesOf(nullptr, machine::Machine::For(mesh)), 5);
  const MicroKernelTimes without(MicroKernelTimes::ByTile{});
  EXPECT_EQ(StreamBytesOf(&without, machine::Machine::For(mesh)), 5) << "it was tried, and failed";
}

}  // namespace
}  // namespace hone::schedule
