// Tiles that the threads of a block turn in the memory that they share.
#include <string>

#include "gtest/gtest.h"
#include "tests/compiler/schedule/golden_nest.h"
#include "tests/compiler/schedule/grid_task.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::schedule {
namespace {

constexpr char kTurned[] = "block_transpose";

constexpr const char* kTransposes[] = {
    "fn (p0: Tensor[(64, 96), float32]) { transpose(p0) }",
    "fn (p0: Tensor[(50, 37), int32]) { transpose(p0) }",
    "fn (p0: Tensor[(2, 9, 3, 20), bfloat16]) { transpose(p0, axes=[0, 2, 3, 1]) }",
    "fn (p0: Tensor[(2, 3, 10, 16), float32]) { transpose(p0, axes=[0, 3, 1, 2]) }",
    "fn (p0: Tensor[(1, 4, 16, 8), int8]) { transpose(p0, axes=[0, 1, 3, 2]) }",
    "fn (p0: Tensor[(24, 40), float32], p1: Tensor[(40, 24), float32]) { %0 = transpose(p0); %1 = "
    "add(%0, p1); nn.relu(%1) }",
    "fn (p0: Tensor[(16, 33), float32], p1: Tensor[(16, 33), float32]) { %0 = transpose(p0); %1 = "
    "transpose(p1); multiply(%0, %1) }",
};

TEST(BlockTranspose, EveryConfigComputesWhatTheNaiveNestDoes) {
  uint64_t seed = 1;
  for (const char* const kernel : kTransposes) {
    if (!CheckStrategyOnGrid(kernel, kTurned, /*configs=*/24, seed += 100)) return;
  }
}

TEST(BlockTranspose, ThreadsLoadAndStoreNeighbours) {
  const GridTask one("fn (p0: Tensor[(40, 64), float32]) { %0 = transpose(p0); nn.relu(%0) }");
  const auto config = Config::Parse(
      R"({"strategy":"block_transpose","threads_rows":8,"tile_columns":16,"tile_rows":32})");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto nest = NestOfConfig(one.task(), *config);
  ASSERT_TRUE(nest.ok()) << nest.status();
  ExpectGolden("block_transpose", one.naive(), *nest);
}

TEST(BlockTranspose, IsTheDefaultOfTransposes) {
  for (const char* const kernel : {
           "fn (p0: Tensor[(4096, 4096), float32]) { transpose(p0) }",
           "fn (p0: Tensor[(1, 64, 56, 56), float32]) { transpose(p0, axes=[0, 2, 3, 1]) }",
       }) {
    EXPECT_NE(GridTask(kernel).Default().find(kTurned), std::string::npos) << kernel;
  }
}

// What is loaded in order, along axes of a few elements, or reduced.
TEST(BlockTranspose, TakesNoOtherKernels) {
  for (const char* const kernel : {
           "fn (p0: Tensor[(64, 64), float32]) { nn.relu(p0) }",
           "fn (p0: Tensor[(2, 64, 4, 32), float32]) { transpose(p0, axes=[0, 2, 1, 3]) }",
           "fn (p0: Tensor[(1, 64, 64, 3), float32]) { transpose(p0, axes=[0, 3, 1, 2]) }",
           "fn (p0: Tensor[(64, 64), float32]) { sum(p0, axis=[0]) }",
       }) {
    EXPECT_FALSE(GridTask(kernel).Has(kTurned)) << kernel;
  }
}

}  // namespace
}  // namespace hone::schedule
