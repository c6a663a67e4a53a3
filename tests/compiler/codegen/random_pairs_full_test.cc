// A thousand random configs of every class of operators build, and what they compute equals the
// reference; in CI the same with fewer (random_pairs_ci_test.cc). HONE_RANDOM_SEED=N draws others;
// --gtest_filter='*/conv3d' those of one class. Where a kernel crashes, the last lines name it.
#include <gtest/gtest.h>

#include "tests/compiler/codegen/random_pairs.h"

namespace hone::codegen {
namespace {

class RandomPairs : public testing::TestWithParam<Family> {};

TEST_P(RandomPairs, EqualTheReference) { CheckRandomPairs(GetParam(), 1000); }

INSTANTIATE_TEST_SUITE_P(Families, RandomPairs, testing::ValuesIn(AllFamilies()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hone::codegen
