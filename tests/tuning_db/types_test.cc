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

// Infrastructure failures are measured again elsewhere; the others count.
TEST(Types, OnlyTheFarmsFailuresAreRetried) {
  EXPECT_FALSE(IsCandidateFailure(Outcome::kOk));
  EXPECT_FALSE(IsCandidateFailure(Outcome::kDeviceLost));
  EXPECT_FALSE(IsCandidateFailure(Outcome::kCancelled));
  for (const Outcome outcome :
       {Outcome::kInvalidConfig, Outcome::kBuildError, Outcome::kBuildTimeout, Outcome::kLoadError,
        Outcome::kCrash, Outcome::kRunTimeout, Outcome::kWrongOutput, Outcome::kOutOfMemory}) {
    EXPECT_TRUE(IsCandidateFailure(outcome)) << Name(outcome);
  }
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
