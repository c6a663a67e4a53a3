// What outputs may be off by.
#include "compiler/schedule/error_bound.h"

#include "gtest/gtest.h"
#include "tests/compiler/schedule/nest_check.h"

namespace hone::schedule {
namespace {

double BoundOf(const std::string& kernel) {
  return ErrorBound(MustLower(kernel + " accumulate=float32 numerics=default"));
}

// Elements of normalisations are made of few operations, and of sums of the whole row: configs that
// add in order were taken to be wrong.
TEST(ErrorBound, CountsTheTermsOfEveryStagesSums) {
  EXPECT_GE(BoundOf("fn (p0: Tensor[(2, 31, 17, 16), float32]) { nn.layer_norm(p0, axis=[1, 2, 3]) "
                    "}"),
            31 * 17 * 16);
  EXPECT_GE(BoundOf("fn (p0: Tensor[(3, 5000), float32]) { nn.softmax(p0) }"), 5000);
}

}  // namespace
}  // namespace hone::schedule
