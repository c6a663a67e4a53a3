#include "tuning_db/types.h"

#include <gtest/gtest.h>

namespace hone::tuning_db {
namespace {

TEST(Types, NamesOfOutcomesParseBack) {
  for (int i = 0; i <= static_cast<int>(Outcome::kCancelled); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(ParseOutcome(Name(outcome)), outcome);
  }
  EXPECT_EQ(Name(Outcome::kWrongOutput), "wrong_output");
  EXPECT_EQ(ParseOutcome("no such"), std::nullopt);
}

TEST(Types, NamesOfPurposesParseBack) {
  for (int i = 0; i <= static_cast<int>(Purpose::kRerun); ++i) {
    const auto purpose = static_cast<Purpose>(i);
    EXPECT_EQ(ParsePurpose(Name(purpose)), purpose);
  }
  EXPECT_EQ(ParsePurpose(""), std::nullopt);
}

TEST(Types, JobsEndDoneFailedOrCancelled) {
  EXPECT_FALSE(HasEnded(JobState::kQueued));
  EXPECT_FALSE(HasEnded(JobState::kRunning));
  for (const JobState state : {JobState::kDone, JobState::kFailed, JobState::kCancelled}) {
    EXPECT_TRUE(HasEnded(state)) << Name(state);
  }
}

}  // namespace
}  // namespace hone::tuning_db
