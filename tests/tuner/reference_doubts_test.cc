// Whose word that a reference does not run is believed.
#include "tuner/farm/reference_doubts.h"

#include <gtest/gtest.h>

#include "tests/tuner/fakes.h"
#include "tuner/farm/assignment.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;

class ReferenceDoubtsTest : public testing::Test {
 protected:
  void Pass(int64_t minutes) { clock_.now_ns += minutes * 60 * int64_t{1'000'000'000}; }
  bool Says(const std::string& worker) { return doubts_.IsBelieved("workload", worker); }

  FakeClock clock_;
  ReferenceDoubts doubts_{&clock_};
};

TEST_F(ReferenceDoubtsTest, TwoWorkersAreBelieved) {
  EXPECT_FALSE(Says("w1"));
  EXPECT_FALSE(doubts_.IsBelieved("another workload", "w2"));
  Pass(59);
  EXPECT_TRUE(Says("w2"));
  EXPECT_FALSE(Says("w2")) << "it is forgotten then";
}

TEST_F(ReferenceDoubtsTest, OneIsTheThirdTime) {
  EXPECT_FALSE(Says("w1"));
  EXPECT_FALSE(Says("w1"));
  EXPECT_TRUE(Says("w1"));
}

TEST_F(ReferenceDoubtsTest, ClaimsAge) {
  EXPECT_FALSE(Says("w1"));
  Pass(60);
  EXPECT_FALSE(Says("w2")) << "the first said it an hour ago";
  Pass(30);
  EXPECT_FALSE(Says("w2"));
  Pass(30);
  EXPECT_FALSE(Says("w2")) << "its own first claim is old too";
  EXPECT_TRUE(Says("w2"));
}

TEST_F(ReferenceDoubtsTest, AReferenceThatRanEndsThem) {
  EXPECT_FALSE(Says("w1"));
  doubts_.Forget("workload");
  EXPECT_FALSE(Says("w2"));
}

TEST_F(ReferenceDoubtsTest, AnOutputThatWasComparedProvesAReference) {
  v1::Assignment assignment;
  v1::MeasureResult result;
  result.add_candidates()->set_outcome(v1::MEASURE_OUTCOME_CRASH);
  v1::CandidateResult& second = *result.add_candidates();
  const auto proves = [&](v1::MeasureOutcome outcome) {
    second.set_outcome(outcome);
    return ProvesReference(assignment, result);
  };
  EXPECT_FALSE(proves(v1::MEASURE_OUTCOME_OK)) << "nothing was compared";
  assignment.mutable_reference()->set_artifact_digest("d");
  for (int i = v1::MeasureOutcome_MIN; i <= v1::MeasureOutcome_MAX; ++i) {
    const auto outcome = static_cast<v1::MeasureOutcome>(i);
    EXPECT_EQ(proves(outcome),
              outcome == v1::MEASURE_OUTCOME_OK || outcome == v1::MEASURE_OUTCOME_WRONG_OUTPUT)
        << v1::MeasureOutcome_Name(outcome);
  }
}

TEST_F(ReferenceDoubtsTest, ThatNoReferenceRunsIsNoAnswerWhereNoneWasAssigned) {
  v1::Assignment assignment;
  assignment.add_candidates()->set_artifact_digest("a");
  v1::MeasureResult result;
  result.add_candidates()->set_artifact_digest("a");
  result.mutable_candidates(0)->set_outcome(v1::MEASURE_OUTCOME_NO_REFERENCE);
  const v1::Device device;
  const auto difference = [&] { return FirstDifference(assignment, &device, 3, 0, result); };
  EXPECT_EQ(difference(),
            "candidate 0: expected an outcome without a reference, found that the reference does "
            "not run");
  assignment.mutable_reference()->set_artifact_digest("r");
  EXPECT_EQ(difference(), "");
}

}  // namespace
}  // namespace hone::tuner
