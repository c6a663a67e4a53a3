#include "support/log_budget.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(LogBudgetTest, SaysSoOftenInAWindowAndThenHowOftenItDidNot) {
  LogBudget budget(2, 100);
  int swallowed = -1;
  EXPECT_TRUE(budget.Spend(7, &swallowed));
  EXPECT_EQ(swallowed, 0);
  EXPECT_TRUE(budget.Spend(50, &swallowed));
  EXPECT_FALSE(budget.Spend(60, &swallowed));
  EXPECT_FALSE(budget.Spend(106, &swallowed));
  EXPECT_TRUE(budget.Spend(107, &swallowed));
  EXPECT_EQ(swallowed, 2);
  EXPECT_TRUE(budget.Spend(108, &swallowed));
  EXPECT_EQ(swallowed, 0);
}

}  // namespace
}  // namespace hone
