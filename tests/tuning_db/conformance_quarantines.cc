// What operators put aside.
#include "tests/tuning_db/conformance.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Quarantine QuarantineOf(const std::string& worker, const std::string& device) {
  return {.worker = worker, .device = device, .reason = "a new fan \"x\"", .by = "ann"};
}

}  // namespace

TEST_P(Conformance, AQuarantineKeepsEveryFieldUntilItEnds) {
  const Quarantine device = store_->SetQuarantine(QuarantineOf("w2", "cpu0")).value();
  EXPECT_GT(device.at_ns, 0);
  EXPECT_EQ(device.reason, "a new fan \"x\"");
  EXPECT_EQ(device.by, "ann");
  const Quarantine whole = store_->SetQuarantine(QuarantineOf("w2", "")).value();
  const Quarantine other = store_->SetQuarantine(QuarantineOf("w1", "cpu0")).value();
  Reopen();
  EXPECT_THAT(store_->ListQuarantines().value(), ElementsAre(other, whole, device));
  EXPECT_THAT(store_->EndQuarantines("w1", "cpu1").value(), IsEmpty());
  EXPECT_THAT(store_->EndQuarantines("w2", "cpu0").value(), ElementsAre(device));
  Reopen();
  EXPECT_THAT(store_->ListQuarantines().value(), ElementsAre(other, whole));
}

TEST_P(Conformance, AWorkersQuarantinesEndTogether) {
  const Quarantine whole = store_->SetQuarantine(QuarantineOf("w2", "")).value();
  const Quarantine device = store_->SetQuarantine(QuarantineOf("w2", "cpu0")).value();
  const Quarantine other = store_->SetQuarantine(QuarantineOf("w1", "")).value();
  EXPECT_THAT(store_->EndQuarantines("", "").value(), IsEmpty());
  EXPECT_THAT(store_->EndQuarantines("w2", "").value(), ElementsAre(whole, device));
  EXPECT_THAT(store_->EndQuarantines("w2", "").value(), IsEmpty());
  EXPECT_THAT(store_->ListQuarantines().value(), ElementsAre(other));
}

TEST_P(Conformance, ASecondQuarantineReplacesTheFirst) {
  ASSERT_TRUE(store_->SetQuarantine(QuarantineOf("w", "cpu0")).ok());
  Quarantine newer = QuarantineOf("w", "cpu0");
  newer.reason = "its times drift";
  newer.by = "bob";
  const Quarantine set = store_->SetQuarantine(newer).value();
  EXPECT_EQ(set.by, "bob");
  EXPECT_THAT(store_->ListQuarantines().value(), ElementsAre(set));
}

TEST_P(Conformance, AQuarantineOfNoWorkerIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(store_->SetQuarantine(QuarantineOf("", "cpu0")).status()));
  EXPECT_THAT(store_->ListQuarantines().value(), IsEmpty());
}

}  // namespace hone::tuning_db
