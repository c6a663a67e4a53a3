#include "support/median.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Median, OfAnOddNumberIsTheMiddleOne) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({5, 1, 3}), 3);
}

TEST(Median, OfAnEvenNumberIsTheMeanOfTheMiddleTwo) { EXPECT_EQ(Median({4, 1, 3, 2}), 2.5); }

TEST(Median, OfNoneIsZero) { EXPECT_EQ(Median({}), 0); }

}  // namespace
}  // namespace hone
