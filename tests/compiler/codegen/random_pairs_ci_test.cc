// A slice of random_pairs_full_test.cc.
#include <gtest/gtest.h>

#include "tests/compiler/codegen/pair_check.h"
#include "tests/compiler/codegen/random_pairs.h"

namespace hone::codegen {
namespace {

class RandomPairs : public testing::TestWithParam<Family> {};

TEST_P(RandomPairs, EqualTheReference) { CheckRandomPairs(GetParam(), 64); }

INSTANTIATE_TEST_SUITE_P(Families, RandomPairs, testing::ValuesIn(AllFamilies()),
                         [](const auto& info) { return info.param.name; });

// Each template has its part in the pairs.
TEST(RandomWorkloads, ReachEveryTemplate) {
  std::set<std::string> reached;
  for (const Family& family : AllFamilies()) {
    Random random(1);
    for (int i = 0; i < 2 * kSizesCount; ++i) {
      const auto task = TaskUnderTest::Of(RandomWorkload(family, random, i), "native");
      ASSERT_TRUE(task.ok()) << task.status();
      reached.emplace((*task)->schedule().name());
    }
  }
  EXPECT_EQ(reached,
            (std::set<std::string>{"attention", "conv", "dense", "depthwise_conv2d", "generic",
                                   "pool", "recurrent", "rows", "scaled_dense", "sparse_dense"}));
}

}  // namespace
}  // namespace hone::codegen
