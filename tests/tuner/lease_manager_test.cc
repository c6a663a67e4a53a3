// When a lease runs, when it is over, and what is blamed.
#include "tuner/farm/lease_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuner/fakes.h"

namespace hone::tuner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;

class LeaseManagerTest : public testing::Test {
 protected:
  void Open(int64_t fence, bool tells = true) {
    Lease lease;
    lease.pending = std::make_shared<PendingTrial>();
    lease.assignment.set_fence(fence);
    lease.assignment.set_trial(fence * 10);
    lease.assignment.set_device("gpu0");
    lease.worker = "w";
    lease.instance = "life1";
    lease.limit_ns = 10 * kSecond;
    leases_.Open(std::move(lease), tells);
  }
  void Pass(int64_t seconds) { clock_.now_ns += seconds * kSecond; }
  bool Ran(int64_t fence) { return leases_.Ran(*leases_.Find(fence)); }

  FakeClock clock_;
  LeaseManager leases_{&clock_, 30 * kSecond};
};

TEST_F(LeaseManagerTest, ALeaseRunsFromWhenItsDeviceSaysSo) {
  Open(1);
  Open(2);
  Pass(8);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  Pass(9);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  EXPECT_TRUE(Ran(1));
  EXPECT_FALSE(Ran(2)) << "it waits";
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1));
}

TEST_F(LeaseManagerTest, ADeviceCannotBuyTime) {
  Open(1);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  for (int i = 0; i < 10; ++i) {
    Pass(1);
    leases_.SeeRunning("w", "gpu0", 1, 0);
  }
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1));
  EXPECT_EQ(leases_.Find(1)->started_ns, 1);
  leases_.SeeRunning("w", "gpu0", 1, int64_t{1} << 62);
  EXPECT_EQ(leases_.Find(1)->started_ns, leases_.Find(1)->offered_ns) << "nor lose any before";
}

TEST_F(LeaseManagerTest, ALeaseThatIsNeverBegunEnds) {
  Open(1);
  Pass(9);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1));
  EXPECT_FALSE(Ran(1));
}

TEST_F(LeaseManagerTest, ADeviceOfProtocol2RunsItsOldest) {
  Open(1, false);
  Open(2, false);
  EXPECT_TRUE(Ran(1));
  EXPECT_FALSE(Ran(2));
  Pass(9);
  leases_.Close(1);
  EXPECT_TRUE(Ran(2));
  Pass(9);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(2));
}

TEST_F(LeaseManagerTest, OnlyWhatRanWhenItsWorkerWentIsBlamed) {
  Open(1);
  Open(2);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  leases_.Detach("w", false);
  Pass(29);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1, 2));
  EXPECT_TRUE(Ran(1));
  EXPECT_FALSE(Ran(2));
}

TEST_F(LeaseManagerTest, AWorkerThatIsBackHasNotGoneDown) {
  Open(1);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  leases_.Detach("w", false);
  EXPECT_THAT(leases_.Reattach("w", "life1", {}, true), ElementsAre(1));
  EXPECT_FALSE(Ran(1)) << "the same process dropped it";
}

TEST_F(LeaseManagerTest, AnotherLifeOfTheWorkerHas) {
  Open(1);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  leases_.Detach("w", false);
  EXPECT_THAT(leases_.Reattach("w", "life2", {}, true), ElementsAre(1));
  EXPECT_TRUE(Ran(1));
}

TEST_F(LeaseManagerTest, NothingIsBlamedWhereAnotherStreamTookOver) {
  Open(1, false);
  leases_.Detach("w", true);
  EXPECT_THAT(leases_.Reattach("w", "", {}, false), ElementsAre(1));
  EXPECT_FALSE(Ran(1));
}

TEST_F(LeaseManagerTest, WhatRunsOnOverABreakKeepsItsTime) {
  Open(1);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  Pass(4);
  leases_.Detach("w", false);
  Pass(4);
  EXPECT_THAT(leases_.Reattach("w", "life1", {1}, true), IsEmpty());
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1));
}

TEST_F(LeaseManagerTest, WhatIsBeingSettledIsNotLost) {
  Open(1);
  leases_.Find(1)->is_settling = true;
  Pass(100);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  leases_.Detach("w", false);
  EXPECT_THAT(leases_.Reattach("w", "life2", {}, true), IsEmpty());
}

TEST_F(LeaseManagerTest, KnowsATrialsLeaseAndForgetsItWithTheLease) {
  Open(1);
  EXPECT_EQ(leases_.FenceOf(10), 1);
  leases_.Close(1);
  EXPECT_EQ(leases_.FenceOf(10), 0);
  EXPECT_EQ(leases_.Find(1), nullptr);
}

}  // namespace
}  // namespace hone::tuner
