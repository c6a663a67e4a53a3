// Rows that the threads of a block reduce together.
#include <string>

#include "compiler/lower/lower.h"
#include "gtest/gtest.h"
#include "support/random.h"
#include "tests/compiler/schedule/golden_nest.h"
#include "tests/compiler/schedule/grid_task.h"
#include "tests/compiler/schedule/nest_check.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

constexpr char kRows[] = "block_rows";

// Sums of small integers are exact in every order.
constexpr const char* kExactRows[] = {
    "fn (p0: Tensor[(3, 1000), float32]) { sum(p0, axis=[1]) }",
    "fn (p0: Tensor[(4, 197), int32]) { %0 = sum(p0, axis=[1]); negative(%0) }",
    "fn (p0: Tensor[(6, 96), bfloat16]) { max(p0, axis=[1], keepdims=true) }",
    "fn (p0: Tensor[(2, 64), int8]) { min(p0, axis=[1]) }",
    "fn (p0: Tensor[(2, 8, 7, 7), float32]) { nn.global_avg_pool2d(p0) }",
    "fn (p0: Tensor[(1, 4, 8, 9), float32]) { nn.global_max_pool2d(p0) }",
    "fn (p0: Tensor[(64, 24), float32]) { sum(p0, axis=[0]) }",
    "fn (p0: Tensor[(2, 24, 4, 8), float32]) { max(p0, axis=[1]) }",
    "fn (p0: Tensor[(3, 4, 40), float32]) { sum(p0, axis=[0, 2]) }",
    "fn (p0: Tensor[(4, 100), float32]) { argmax(p0, axis=1) }",
    "fn (p0: Tensor[(8, 72), int32]) { argmin(p0, axis=1, select_last_index=true) }",
    "fn (p0: Tensor[(1, 200), float32], const p1: Tensor[(16, 200), float32], const p2: "
    "Tensor[(16,), float32]) { %0 = nn.dense(p0, p1); %1 = add(%0, p2); nn.relu(%1) }",
};

TEST(BlockRows, EveryConfigReducesWhatTheNaiveNestDoes) {
  uint64_t seed = 1;
  for (const char* const kernel : kExactRows) {
    if (!CheckStrategyOnGrid(kernel, kRows, /*configs=*/24, seed += 100)) return;
  }
}

// Several reductions, the later of what the former left.
constexpr const char* kRoundedRows[] = {
    "fn (p0: Tensor[(4, 1000), float32]) { nn.softmax(p0) }",
    "fn (p0: Tensor[(3, 2, 49), bfloat16]) { nn.softmax(p0) }",
    "fn (p0: Tensor[(2, 6, 128), bfloat16]) { nn.log_softmax(p0) }",
    "fn (p0: Tensor[(2, 21, 4, 8), float32]) { nn.softmax(p0, axis=1) }",
    "fn (p0: Tensor[(4, 197), float32], p1: Tensor[(4, 197), float32]) { %0 = add(p0, p1); %1 = "
    "tanh(%0); nn.softmax(%1) }",
    "fn (p0: Tensor[(8, 192), float32], const p1: Tensor[(192,), float32], const p2: "
    "Tensor[(192,), float32]) { nn.layer_norm(p0, p1, p2) }",
    "fn (p0: Tensor[(2, 3, 5, 40), float32], const p1: Tensor[(5, 40), float32], const p2: "
    "Tensor[(5, 40), float32]) { nn.layer_norm(p0, p1, p2, axis=[2, 3]) }",
    "fn (p0: Tensor[(2, 16, 32), bfloat16], p1: Tensor[(2, 16, 32), bfloat16], const p2: "
    "Tensor[(32,), bfloat16], const p3: Tensor[(32,), bfloat16]) { %0 = add(p0, p1); "
    "nn.layer_norm(%0, p2, p3) }",
};

TEST(BlockRows, StagesOfARowAreOneLaunch) {
  uint64_t seed = 1;
  for (const char* const kernel : kRoundedRows) {
    if (!CheckStrategyOnGrid(kernel, kRows, /*configs=*/24, seed += 100, 1e-3)) return;
    const GridTask one(kernel);
    Random random(seed);
    const auto nest = NestOfConfig(one.task(), one.SpaceOf(kRows).Sample(random));
    ASSERT_TRUE(nest.ok()) << nest.status();
    EXPECT_EQ(nest->launches.size(), 1U) << kernel;
  }
}

TEST(BlockRows, ThreadsKeepARowInRegisters) {
  const GridTask one("fn (p0: Tensor[(4, 200), float32]) { nn.softmax(p0) }");
  const auto config = Config::Parse(
      R"({"row":"registers","run":2,"strategy":"block_rows","threads_columns":32,"threads_rows":2})");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto nest = NestOfConfig(one.task(), *config);
  ASSERT_TRUE(nest.ok()) << nest.status();
  ExpectGolden("block_rows", one.naive(), *nest, 1e-5);
}

TEST(BlockRows, IsTheDefaultOfLongRows) {
  const auto is_default = [](const std::string& kernel) {
    return GridTask(kernel, "cuda -arch=sm_90a -multiprocessors=132").Default().find(kRows) !=
           std::string::npos;
  };
  EXPECT_TRUE(is_default("fn (p0: Tensor[(4096, 4096), float32]) { nn.softmax(p0) }"));
  EXPECT_TRUE(is_default("fn (p0: Tensor[(1536, 128), float32]) { nn.softmax(p0) }"));
  EXPECT_TRUE(is_default("fn (p0: Tensor[(64, 1000), float32]) { mean(p0, axis=[1]) }"));
  EXPECT_TRUE(is_default("fn (p0: Tensor[(1, 2048, 7, 7), float32]) { nn.global_avg_pool2d(p0) }"));
  EXPECT_TRUE(
      is_default("fn (p0: Tensor[(1, 4096), float32], const p1: Tensor[(4096, 4096), "
                 "float32]) { nn.dense(p0, p1) }"));
}

// The softmax between two products is not what their strategies are about.
TEST(BlockRows, ReductionsThatAreLeftHaveThreadsForEachRow) {
  const GridTask one(
      "fn (p0: Tensor[(2, 32, 16), float32], p1: Tensor[(2, 128, 16), float32], p2: Tensor[(2, 16, "
      "128), float32]) { %0 = nn.batch_matmul(p0, p1); %1 = nn.softmax(%0); nn.batch_matmul(%1, "
      "p2) }");
  const auto nest = NestOfConfig(one.task(), DefaultOfTask(one.task()));
  ASSERT_TRUE(nest.ok()) << nest.status();
  ExpectSameResults(one.naive(), *nest, 1, "attention", 1e-4);
  const std::string text = loop::ToText(*nest);
  for (const char* const loop :
       {"thread softmax_max.acc.parts.i0 in 0..32", "thread softmax_sum.acc.parts.i0 in 0..32"}) {
    EXPECT_NE(text.find(loop), std::string::npos) << loop << "\n" << text;
  }
  EXPECT_TRUE(lower::LowerLaunches(*nest, one.task().target).ok());
}

// Terms that several rows share, rows of a few elements, and what reduces nothing.
TEST(BlockRows, TakesNoOtherKernels) {
  for (const char* const kernel : {
           "fn (p0: Tensor[(32, 16), float32], const p1: Tensor[(28, 16), float32]) { "
           "nn.dense(p0, p1) }",
           "fn (p0: Tensor[(1, 8, 8, 8), float32]) { nn.max_pool2d(p0, pool_size=[2, 2], "
           "strides=[2, 2]) }",
           "fn (p0: Tensor[(64, 4), float32]) { nn.softmax(p0) }",
           "fn (p0: Tensor[(64, 64), float32]) { nn.relu(p0) }",
           "fn (p0: Tensor[(1, 16, 14, 14), float32], const p1: Tensor[(32, 16, 1, 1), float32]) "
           "{ nn.conv2d(p0, p1) }",
       }) {
    EXPECT_FALSE(GridTask(kernel).Has(kRows)) << kernel;
  }
}

}  // namespace
}  // namespace hone::schedule
