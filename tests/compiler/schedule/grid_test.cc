// Kernels on machines with a grid of threads.
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/loop/stmt.h"
#include "compiler/lower/lower.h"
#include "compiler/machine/machine.h"
#include "compiler/schedule/templates.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/schedule/golden_nest.h"
#include "tests/compiler/schedule/grid_task.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

// Its tensor cores multiply float32 no faster than its threads.
constexpr char kWithoutFastTf32[] = "cuda -arch=sm_86 -multiprocessors=4";

std::string Dense(int64_t rows, int64_t units, int64_t terms) {
  return fmt::format(
      "fn (p0: Tensor[({}, {}), float32], const p1: Tensor[({}, {}), float32]) {{ nn.dense(p0, p1) "
      "}}",
      rows, terms, units, terms);
}

// The inputs are small integers, so that sums in any order give the same bits.
TEST(Grid, EveryConfigComputesWhatTheNaiveNestDoes) {
  const std::pair<const char*, int> kernels[] = {
      {"fn (p0: Tensor[(4, 12), float32], const p1: Tensor[(8, 12), float32], const p2: "
       "Tensor[(8,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
       10},
      {"fn (p0: Tensor[(1, 3, 6, 8), float32], const p1: Tensor[(4, 3, 3, 3), float32]) { %0 = "
       "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
       10},
      {"fn (p0: Tensor[(2, 4, 6, 6), float32], const p1: Tensor[(4, 1, 3, 3), float32]) { "
       "nn.conv2d(p0, p1, groups=4, padding=[1, 1, 1, 1]) }",
       10},
      {"fn (p0: Tensor[(2, 3, 4), float32], p1: Tensor[(2, 8, 4), float32]) { nn.batch_matmul(p0, "
       "p1) }",
       5},
      {"fn (p0: Tensor[(1, 2, 4, 4, 4), float32], const p1: Tensor[(2, 2, 3, 3, 3), float32]) { "
       "nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]) }",
       10},
      {"fn (p0: Tensor[(1, 4, 8, 8), float32]) { nn.max_pool2d(p0, pool_size=[2, 2], strides=[2, "
       "2]) }",
       5},
      {"fn (p0: Tensor[(4, 6), float32]) { nn.softmax(p0) }", 1},
      {"fn (p0: Tensor[(5, 7), float32]) { nn.relu(p0) }", 1},
      {"fn (p0: Tensor[(5, 7), float32], const p1: Tensor[(11, 7), float32]) { nn.dense(p0, p1) }",
       1},
  };
  uint64_t seed = 1;
  for (const auto& [kernel, least_configs] : kernels) {
    const GridTask one(kernel);
    std::vector<Config> configs = SpaceOfTask(one.task()).Enumerate(64);
    EXPECT_GE(configs.size(), static_cast<size_t>(least_configs)) << kernel;
    Random random(seed);
    for (int i = 0; i < 32; ++i) configs.push_back(SpaceOfTask(one.task()).Sample(random));
    for (const Config& config : configs) {
      const auto nest = NestOfConfig(one.task(), config);
      ASSERT_TRUE(nest.ok()) << nest.status() << kernel << config.ToText();
      ExpectSameResults(one.naive(), *nest, seed++, kernel + config.ToText());
      if (HasFailure()) return;
    }
  }
}

// Sums of which blocks of threads compute tiles, and whose terms are of these kinds: a product with
// both factors, one of them behind a cast; padded and strided data; filters of groups.
constexpr const char* kShared[] = {
    "fn (p0: Tensor[(32, 16), float32], const p1: Tensor[(28, 16), float32], const p2: "
    "Tensor[(28,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(3, 16, 8), float32], p1: Tensor[(3, 32, 8), float32]) { "
    "nn.batch_matmul(p0, p1) }",
    "fn (p0: Tensor[(1, 4, 14, 14), float32], const p1: Tensor[(16, 4, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(2, 4, 16, 16), float32], const p1: Tensor[(8, 4, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 16, 7, 7), float32], const p1: Tensor[(32, 16, 1, 1), float32]) { "
    "nn.conv2d(p0, p1) }",
    "fn (p0: Tensor[(1, 4, 4, 4, 8), float32], const p1: Tensor[(8, 4, 3, 3, 3), float32]) { "
    "nn.conv3d(p0, p1, padding=[1, 1, 1, 1, 1, 1]) }",
    "fn (p0: Tensor[(1, 8, 32), float32], const p1: Tensor[(16, 8, 3), float32]) { "
    "nn.conv1d(p0, p1, padding=[1, 1]) }",
    // No tile divides these extents.
    "fn (p0: Tensor[(13, 8), float32], const p1: Tensor[(55, 8), float32], const p2: "
    "Tensor[(55,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(1, 4, 13, 13), float32], const p1: Tensor[(16, 4, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 4, 27, 27), float32], const p1: Tensor[(8, 4, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, strides=[2, 2]) }",
    "fn (p0: Tensor[(1, 8, 55, 55), float32], const p1: Tensor[(16, 8, 1, 1), float32]) { "
    "nn.conv2d(p0, p1) }",
    // Few results of many terms, which blocks may share.
    "fn (p0: Tensor[(8, 256), float32], const p1: Tensor[(32, 256), float32], const p2: "
    "Tensor[(32,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(1, 32, 7, 7), float32], const p1: Tensor[(16, 32, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(8, 128), float16], const p1: Tensor[(32, 128), float16]) { %0 = nn.dense(p0, "
    "p1); nn.relu(%0) }",
};

TEST(Grid, BlocksOfThreadsComputeWhatTheNaiveNestDoes) {
  uint64_t seed = 1;
  for (const char* const kernel : kShared) {
    if (!CheckStrategyOnGrid(kernel, "block_tile", /*configs=*/40, seed += 100)) return;
  }
}

// Sums that tensor cores compute: products with an epilogue and without one; a batch of them; 1x1,
// padded and strided convolutions, whose channels are neighbours in the copies.
constexpr const char* kOfTensorCores[] = {
    "fn (p0: Tensor[(64, 64), bfloat16], const p1: Tensor[(48, 64), bfloat16], const p2: "
    "Tensor[(48,), bfloat16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(32, 64), float16], const p1: Tensor[(64, 64), float16]) { %0 = nn.dense(p0, "
    "p1); nn.relu(%0) }",
    "fn (p0: Tensor[(32, 32), bfloat16], const p1: Tensor[(32, 32), bfloat16]) { %0 = sigmoid(p0); "
    "nn.dense(%0, p1) }",
    "fn (p0: Tensor[(32, 32), bfloat16], const p1: Tensor[(32, 32), bfloat16]) { nn.dense(p0, p1, "
    "out_dtype=\"float32\") }",
    "fn (p0: Tensor[(2, 16, 32), bfloat16], p1: Tensor[(2, 32, 32), bfloat16]) { "
    "nn.batch_matmul(p0, p1) }",
    "fn (p0: Tensor[(1, 16, 8, 8), bfloat16], const p1: Tensor[(32, 16, 1, 1), bfloat16]) { "
    "nn.conv2d(p0, p1) }",
    "fn (p0: Tensor[(1, 32, 4, 16), bfloat16], const p1: Tensor[(16, 32, 3, 3), bfloat16]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(2, 16, 8, 16), bfloat16], const p1: Tensor[(16, 16, 3, 3), bfloat16]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 1, 1, 1]) }",
    // Tiles that do not divide rows, columns, or either.
    "fn (p0: Tensor[(50, 32), bfloat16], const p1: Tensor[(32, 32), bfloat16]) { nn.dense(p0, p1) "
    "}",
    "fn (p0: Tensor[(2, 20, 32), float16], p1: Tensor[(2, 21, 32), float16]) { nn.batch_matmul(p0, "
    "p1) }",
    "fn (p0: Tensor[(1, 32, 4, 14), bfloat16], const p1: Tensor[(16, 32, 3, 3), bfloat16]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(1, 32, 7, 7), bfloat16], const p1: Tensor[(32, 32, 1, 1), bfloat16]) { "
    "nn.conv2d(p0, p1) }",
    "fn (p0: Tensor[(1, 16, 14, 14), bfloat16], const p1: Tensor[(16, 16, 3, 3), bfloat16]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 1, 1, 1]) }",
    // Few results of many terms, which blocks may share.
    "fn (p0: Tensor[(16, 512), bfloat16], const p1: Tensor[(24, 512), bfloat16], const p2: "
    "Tensor[(24,), bfloat16]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(1, 128, 7, 7), float16], const p1: Tensor[(32, 128, 1, 1), float16]) { %0 = "
    "nn.conv2d(p0, p1); nn.relu(%0) }",
    // Float32, of which 8 terms are enough.
    "fn (p0: Tensor[(64, 40), float32], const p1: Tensor[(48, 40), float32], const p2: "
    "Tensor[(48,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
    "fn (p0: Tensor[(2, 20, 32), float32], p1: Tensor[(2, 21, 32), float32]) { nn.batch_matmul(p0, "
    "p1) }",
    "fn (p0: Tensor[(1, 32, 7, 7), float32], const p1: Tensor[(32, 32, 3, 3), float32]) { %0 = "
    "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }",
    "fn (p0: Tensor[(2, 24, 8, 16), float32], const p1: Tensor[(16, 24, 3, 3), float32]) { "
    "nn.conv2d(p0, p1, strides=[2, 2], padding=[1, 1, 1, 1]) }",
    "fn (p0: Tensor[(16, 512), float32], const p1: Tensor[(24, 512), float32]) { nn.dense(p0, p1) "
    "}",
};

TEST(Grid, WarpsComputeWhatTheNaiveNestDoes) {
  uint64_t seed = 1;
  for (const char* const kernel : kOfTensorCores) {
    if (!CheckStrategyOnGrid(kernel, "warp_tile", /*configs=*/20, seed += 100)) return;
    const GridTask one(kernel);
    const Space space = one.SpaceOf("warp_tile");
    Random random(seed);
    for (int i = 0; i < 20; ++i) {
      const Config config = space.Sample(random);
      const auto nest = NestOfConfig(one.task(), config);
      ASSERT_TRUE(nest.ok()) << nest.status() << kernel << config.ToText();
      const auto launches = lower::LowerLaunches(*nest, one.task().target);
      ASSERT_TRUE(launches.ok()) << launches.status() << kernel << config.ToText();
      const bool has_warps = std::ranges::any_of(
          *launches, [](const auto& launch) { return !launch.warps.operations.empty(); });
      ASSERT_TRUE(has_warps) << kernel << config.ToText();
    }
  }
}

TEST(Grid, ABlockOfThreadsSharesWhatItLoads) {
  const GridTask one(
      "fn (p0: Tensor[(16, 16), float32], const p1: Tensor[(32, 16), float32], const p2: "
      "Tensor[(32,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }");
  ExpectGoldenOf(
      one, "block_tile",
      R"({"column_runs":1,"load_ahead":0,"row_axis":0,"slots":1,"steps":8,"strategy":"block_tile","threads_columns":8,"threads_rows":4,"tile_columns":2,"tile_rows":4})");
}

// Blocks share the terms of each sum; a second launch adds up the parts and ends the kernel.
TEST(Grid, BlocksOfThreadsSumParts) {
  const GridTask one(
      "fn (p0: Tensor[(16, 256), float32], const p1: Tensor[(32, 256), float32], const p2: "
      "Tensor[(32,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }");
  ExpectGoldenOf(
      one, "block_tile_parts",
      R"({"column_runs":1,"load_ahead":0,"parts":4,"row_axis":0,"slots":1,"steps":8,"strategy":"block_tile","threads_columns":8,"threads_rows":4,"tile_columns":2,"tile_rows":4})");
}

// A machine of twice as many units gets twice as many threads, of half as many results.
TEST(Grid, ThreadsThatAddUpPartsKeepTheMachineBusy) {
  constexpr char kKernel[] =
      "fn (p0: Tensor[(32, 256), float32], const p1: Tensor[(32, 256), float32]) { "
      "nn.dense(p0, p1) }";
  constexpr char kConfig[] =
      R"({"column_runs":1,"load_ahead":0,"parts":4,"row_axis":0,"slots":1,"steps":8,)"
      R"("strategy":"block_tile","threads_columns":8,"threads_rows":8,"tile_columns":4,)"
      R"("tile_rows":4})";
  for (const auto& [units, results] : {std::pair(1, 4), std::pair(2, 2), std::pair(4, 1)}) {
    const GridTask one(kKernel, fmt::format("cuda -arch=sm_80 -multiprocessors={}", units));
    const auto nest = NestOfConfig(one.task(), *Config::Parse(kConfig));
    ASSERT_TRUE(nest.ok()) << nest.status();
    const std::string text = loop::ToText(*nest);
    const std::string adding = text.substr(text.rfind("run @"));
    EXPECT_THAT(adding, testing::HasSubstr(fmt::format("i1 in 0..{} {{", 32 / results))) << adding;
    EXPECT_EQ(adding.find("vectorize") != std::string::npos, results > 1) << adding;
    ExpectSameResults(one.naive(), *nest, /*seed=*/1, kConfig, /*tolerance=*/1e-5);
  }
}

// Parts are whole copies: nine copies make three or nine parts, and no two.
TEST(Grid, SumsOfNineCopiesAreSplitInThrees) {
  const GridTask one(
      "fn (p0: Tensor[(16, 288), float32], const p1: Tensor[(16, 288), float32]) { "
      "nn.dense(p0, p1) }");
  const auto config = [](int64_t parts) {
    return *Config::Parse(fmt::format(
        R"({{"column_runs":1,"load_ahead":0,"parts":{},"row_axis":0,"slots":1,"steps":32,)"
        R"("strategy":"block_tile","threads_columns":8,"threads_rows":4,"tile_columns":2,)"
        R"("tile_rows":4}})",
        parts));
  };
  for (const int64_t parts : {1, 3, 9}) {
    EXPECT_TRUE(SpaceOfTask(one.task()).Contains(config(parts))) << parts;
    const auto nest = NestOfConfig(one.task(), config(parts));
    ASSERT_TRUE(nest.ok()) << nest.status();
    EXPECT_EQ(nest->launches.size(), parts == 1 ? 1 : 2);
    ExpectSameResults(one.naive(), *nest, /*seed=*/1, config(parts).ToText(), /*tolerance=*/1e-5);
  }
  for (const int64_t parts : {2, 4, 6, 12}) {
    EXPECT_FALSE(SpaceOfTask(one.task()).Contains(config(parts))) << parts;
  }
}

// The addition loads the only sample at 0.
TEST(Grid, WhatFollowsTheSumsOfOneSampleIsFused) {
  const GridTask one(
      "fn (p0: Tensor[(1, 16, 8, 8), float32], const p1: Tensor[(16, 16, 1, 1), float32], p2: "
      "Tensor[(1, 16, 8, 8), float32]) { %0 = nn.conv2d(p0, p1); add(%0, p2) }");
  Random random(1);
  const Space space = one.SpaceOf("block_tile");
  for (int i = 0; i < 4; ++i) {
    const Config config = space.Sample(random);
    if (config.Has("parts") && config.Int("parts") > 1) continue;
    const auto nest = NestOfConfig(one.task(), config);
    ASSERT_TRUE(nest.ok()) << nest.status();
    EXPECT_EQ(nest->launches.size(), 1U) << loop::ToText(*nest);
  }
}

// What the next steps copy is loaded before the sums of these; a thread's columns are two runs.
TEST(Grid, ABlockOfThreadsLoadsAhead) {
  const GridTask one(
      "fn (p0: Tensor[(16, 16), float32], const p1: Tensor[(60, 16), float32]) { nn.dense(p0, p1) "
      "}");
  ExpectGoldenOf(
      one, "block_tile_ahead",
      R"({"column_runs":2,"load_ahead":1,"row_axis":0,"steps":8,"strategy":"block_tile","threads_columns":8,"threads_rows":4,"tile_columns":8,"tile_rows":4})");
}

// The filter of one channel and one step is one element, which no thread keeps for the others.
TEST(Grid, CopiesOfOneElementAreNotLoadedAhead) {
  const GridTask one(
      "fn (p0: Tensor[(2, 3, 8, 8), float32], const p1: Tensor[(8, 3, 1, 1), float32]) { "
      "nn.conv2d(p0, p1) }");
  const auto prefix = Config::Parse(
      R"({"column_runs":4,"row_axis":0,"steps":1,"strategy":"block_tile","threads_columns":2,"threads_lines":8,"threads_rows":2,"tile_columns":4,"tile_rows":1})");
  ASSERT_TRUE(prefix.ok()) << prefix.status();
  const std::optional<Knob> ahead = SpaceOfTask(one.task()).Next(*prefix);
  ASSERT_TRUE(ahead);
  EXPECT_EQ(ahead->name, "load_ahead");
  EXPECT_EQ(ahead->options.size(), 1);
}

TEST(Grid, WarpsMultiplyTilesFromSharedCopies) {
  const GridTask one(
      "fn (p0: Tensor[(1, 32, 4, 16), bfloat16], const p1: Tensor[(16, 32, 3, 3), bfloat16]) { %0 "
      "= nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }");
  ExpectGoldenOf(
      one, "warp_tile",
      R"({"steps":32,"strategy":"warp_tile","tile_columns":16,"tile_rows":16,"warps_columns":1,"warps_lines":2,"warps_rows":1})");
}

TEST(Grid, CopiesOfWarpsRunAhead) {
  const GridTask one(
      "fn (p0: Tensor[(32, 64), bfloat16], const p1: Tensor[(32, 64), bfloat16]) { nn.dense(p0, "
      "p1) }");
  const auto config = Config::Parse(
      R"({"slots":3,"steps":16,"strategy":"warp_tile","tile_columns":16,"tile_rows":16,"warps_columns":2,"warps_rows":1})");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto nest = NestOfConfig(one.task(), *config);
  ASSERT_TRUE(nest.ok()) << nest.status();
  ExpectGolden("warp_tile_slots", one.naive(), *nest);
  const auto launches = lower::LowerLaunches(*nest, one.task().target);
  ASSERT_TRUE(launches.ok()) << launches.status();
  EXPECT_EQ(launches->back().copied.size(), 2u);
}

// Terms of images are no neighbours: a thread would wait for each element that it copies.
TEST(Grid, OnlyWholeVectorsAreCopiedAhead) {
  const GridTask one(
      "fn (p0: Tensor[(1, 32, 4, 16), bfloat16], const p1: Tensor[(16, 32, 3, 3), bfloat16]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }");
  Random random(1);
  EXPECT_FALSE(one.SpaceOf("warp_tile").Sample(random).Has("slots"));
}

TEST(Grid, TensorCoresAreTheDefault) {
  const auto dense = [](int64_t rows, int64_t units, int64_t terms) {
    return fmt::format(
        "fn (p0: Tensor[({}, {}), bfloat16], const p1: Tensor[({}, {}), bfloat16]) {{ "
        "nn.dense(p0, p1) }}",
        rows, terms, units, terms);
  };
  const auto default_of = [](const std::string& kernel, const std::string& target) {
    return GridTask(kernel, target).Default();
  };
  constexpr char kH100[] = "cuda -arch=sm_90 -multiprocessors=132";
  EXPECT_EQ(
      default_of(dense(1024, 1024, 1024), kH100),
      R"({"parts":1,"slots":2,"steps":64,"strategy":"warp_tile","tile_columns":32,"tile_rows":32,"warps_columns":4,"warps_rows":2})");
  EXPECT_EQ(
      default_of(dense(128, 768, 768), kH100),
      R"({"parts":4,"slots":2,"steps":64,"strategy":"warp_tile","tile_columns":24,"tile_rows":16,"warps_columns":2,"warps_rows":4})")
      << "a larger one leaves units without blocks";
  EXPECT_EQ(
      default_of("fn (p0: Tensor[(8, 64, 56, 56), bfloat16], const p1: Tensor[(64, 64, 3, 3), "
                 "bfloat16]) { nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
                 kH100),
      R"({"steps":32,"strategy":"warp_tile","tile_columns":8,"tile_rows":32,"warps_columns":7,"warps_lines":2,"warps_rows":1})");
  EXPECT_THAT(default_of(dense(1000, 1000, 1000), kH100),
              testing::Not(testing::HasSubstr("warp_tile")))
      << "16 does not divide its terms";
  EXPECT_THAT(default_of(dense(1024, 1024, 1024), "cuda -arch=sm_75"),
              testing::Not(testing::HasSubstr("warp_tile")))
      << "it has none for bfloat16";
}

// Images are copied an element at a time, ahead of the products.
TEST(Grid, WarpsMultiplyTilesOfFloat32) {
  const GridTask one(
      "fn (p0: Tensor[(1, 32, 4, 16), float32], const p1: Tensor[(16, 32, 3, 3), float32]) { %0 "
      "= nn.conv2d(p0, p1, padding=[1, 1, 1, 1]); nn.relu(%0) }");
  ExpectGoldenOf(
      one, "warp_tile_float32",
      R"({"slots":2,"steps":16,"strategy":"warp_tile","tile_columns":16,"tile_rows":16,"warps_columns":1,"warps_lines":2,"warps_rows":1})");
}

// Three products of TF32 take more work than they save where there is little to compute, where the
// device multiplies TF32 slowly, and are none of the sum that strict numerics ask for.
TEST(Grid, TensorCoresMultiplyLargeProductsOfFloat32) {
  constexpr char kH100[] = "cuda -arch=sm_90a -multiprocessors=132";
  EXPECT_EQ(
      GridTask(Dense(1024, 1024, 1024), kH100).Default(),
      R"({"parts":2,"slots":2,"steps":32,"strategy":"warp_tile","tile_columns":32,"tile_rows":64,"warps_columns":4,"warps_rows":2})");
  EXPECT_THAT(GridTask(Dense(64, 64, 64), kH100).Default(), testing::HasSubstr("block_tile"));
  EXPECT_FALSE(GridTask(Dense(1024, 1024, 1024), kWithoutFastTf32).Has("warp_tile"));
  const ops::KernelDefinition strict =
      MustLower(Dense(1024, 1024, 1024) + " accumulate=float32 numerics=strict");
  const Task task{&strict, RowMajorSignature(strict), *Target::Parse(kH100)};
  EXPECT_THAT(DefaultOfTask(task).ToText(), testing::HasSubstr("block_tile"));
}

// ResNets have images of 28, 14 and 7 columns, of which tiles of eight have one in eight to spare.
TEST(Grid, TensorCoresTakeImagesThatTilesDoNotDivide) {
  for (const int64_t size : {28, 14, 7}) {
    const GridTask one(fmt::format("fn (p0: Tensor[(1, 128, {0}, {0}), bfloat16], const p1: "
                                   "Tensor[(128, 128, 3, 3), bfloat16]) {{ nn.conv2d(p0, p1, "
                                   "padding=[1, 1, 1, 1]) }}",
                                   size),
                       "cuda -arch=sm_90a -multiprocessors=132");
    EXPECT_THAT(one.Default(), testing::HasSubstr("warp_tile")) << size;
  }
}

// Four channels in four parts are one step of a sum each, which has no loop that blocks could take
// steps of.
TEST(Grid, PartsOfASumHaveSeveralSteps) {
  const GridTask one(
      "fn (p0: Tensor[(1, 4, 21, 7), float32], const p1: Tensor[(31, 4, 7, 7), float32]) { "
      "nn.conv2d(p0, p1, padding=[0, 4, 0, 4], strides=[2, 1]) }",
      "cuda -arch=sm_90a -multiprocessors=132");
  const auto config = [](int64_t parts) {
    return *Config::Parse(fmt::format(
        R"({{"column_runs":1,"load_ahead":0,"parts":{},"row_axis":1,"slots":1,"steps":1,)"
        R"("strategy":"block_tile","threads_columns":2,"threads_lines":8,"threads_rows":4,)"
        R"("tile_columns":1,"tile_rows":2}})",
        parts));
  };
  EXPECT_TRUE(SpaceOfTask(one.task()).Contains(config(2)));
  EXPECT_TRUE(NestOfConfig(one.task(), config(2)).ok());
  EXPECT_FALSE(SpaceOfTask(one.task()).Contains(config(4)));
}

// The last stage of a ResNet has 49 pixels of 512 channels: eight blocks of usual tiles, of 132.
TEST(Grid, BlocksShareSumsWhereThereAreFewResults) {
  constexpr char kH100[] = "cuda -arch=sm_90a -multiprocessors=132";
  for (const char* const dtype : {"float32", "bfloat16"}) {
    const auto conv = [&](int64_t channels, int64_t size, int64_t batch) {
      return fmt::format(
          "fn (p0: Tensor[({3}, {0}, {1}, {1}), {2}], const p1: Tensor[({0}, {0}, "
          "3, 3), {2}]) {{ nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }}",
          channels, size, dtype, batch);
    };
    EXPECT_THAT(GridTask(conv(512, 7, 1), kH100).Default(),
                testing::ContainsRegex("\"parts\":[1-9][0-9]*"));
    EXPECT_THAT(GridTask(conv(512, 7, 1), kH100).Default(),
                testing::Not(testing::HasSubstr("\"parts\":1,")));
    EXPECT_THAT(GridTask(conv(64, 56, 32), kH100).Default(),
                testing::Not(testing::ContainsRegex("\"parts\":([2-9]|1[0-9])")));
  }
}

TEST(Grid, AThreadKeepsATileOfSumsInRegisters) {
  const GridTask one(
      "fn (p0: Tensor[(4, 12), float32], const p1: Tensor[(8, 12), float32], const p2: "
      "Tensor[(8,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }");
  Config config;
  config.Set("strategy", std::string("thread_tile"));
  config.Set("tile_columns", int64_t{2});
  config.Set("tile_rows", int64_t{4});
  config.Set("row_axis", int64_t{0});
  const auto nest = NestOfConfig(one.task(), config);
  ASSERT_TRUE(nest.ok()) << nest.status();
  ExpectGolden("thread_tile", one.naive(), *nest);
}

// Terms that load the same are only then seen to do so.
TEST(Grid, TheTermsOfAThreadsWindowsAreUnrolled) {
  const GridTask one(
      "fn (p0: Tensor[(1, 64, 64, 64), float32], const p1: Tensor[(64, 1, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, groups=64, padding=[1, 1, 1, 1]) }");
  const auto nest = NestOfConfig(one.task(), DefaultOfTask(one.task()));
  ASSERT_TRUE(nest.ok()) << nest.status();
  const std::string text = loop::ToText(*nest);
  for (const char* const loop : {"unroll conv2d.acc.r1 in 0..3", "unroll conv2d.acc.r2 in 0..3"}) {
    EXPECT_NE(text.find(loop), std::string::npos) << loop << "\n" << text;
  }
}

TEST(Grid, TheDefaultTileLeavesEveryUnitThreads) {
  EXPECT_EQ(
      GridTask(Dense(512, 512, 64)).Default(),
      R"({"column_runs":2,"load_ahead":1,"parts":1,"row_axis":0,"steps":4,"strategy":"block_tile","threads_columns":16,"threads_rows":32,"tile_columns":8,"tile_rows":8})");
  EXPECT_EQ(
      GridTask(Dense(64, 64, 64)).Default(),
      R"({"column_runs":1,"load_ahead":1,"row_axis":0,"steps":32,"strategy":"block_tile","threads_columns":8,"threads_rows":32,"tile_columns":2,"tile_rows":2})");
  EXPECT_EQ(
      GridTask(Dense(512, 512, 64), "cuda -arch=sm_90a -multiprocessors=132").Default(),
      R"({"column_runs":1,"load_ahead":1,"parts":1,"row_axis":0,"steps":16,"strategy":"block_tile","threads_columns":16,"threads_rows":16,"tile_columns":2,"tile_rows":4})")
      << "a larger one has work for larger grids";
}

TEST(Grid, OneRowHasNoBlockToShareIt) {
  EXPECT_EQ(GridTask(Dense(1, 1000, 64)).Default(),
            R"({"strategy":"thread_tile","tile_columns":1,"tile_rows":1})");
}

TEST(Grid, WhatSharesNoLoadsHasNoTile) {
  EXPECT_EQ(GridTask("fn (p0: Tensor[(1, 64, 64, 64), float32]) { nn.max_pool2d(p0, pool_size=[2, "
                     "2], strides=[2, 2]) }")
                .Default(),
            R"({"strategy":"thread_tile","tile_columns":1,"tile_rows":1})");
}

// Rows of output channels share what is loaded of the image, and columns and lines what is loaded
// of the filters.
TEST(Grid, ATileOfAConvolutionIsOfChannelsAndPixels) {
  EXPECT_EQ(
      GridTask("fn (p0: Tensor[(1, 16, 32, 32), float32], const p1: Tensor[(64, 16, 3, 3), "
               "float32]) { nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
               kWithoutFastTf32)
          .Default(),
      R"({"column_runs":1,"load_ahead":0,"row_axis":1,"slots":1,"steps":1,"strategy":"block_tile","threads_columns":2,"threads_lines":4,"threads_rows":16,"tile_columns":8,"tile_rows":4})");
}

// Records of before there was a choice are of threads apart.
TEST(Grid, OldConfigsAreOfThreadsApart) {
  const GridTask one(Dense(64, 64, 64));
  const auto old = Config::Parse(R"({"row_axis":0,"tile_columns":2,"tile_rows":2})");
  ASSERT_TRUE(old.ok()) << old.status();
  const std::optional<Config> now = SpaceOfTask(one.task()).Migrate(*old);
  ASSERT_TRUE(now.has_value());
  EXPECT_EQ(now->ToText(),
            R"({"row_axis":0,"strategy":"thread_tile","tile_columns":2,"tile_rows":2})");
}

}  // namespace
}  // namespace hone::schedule
