// When a lease runs, when it is over, and what is blamed.
#include "tuner/farm/lease_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/clock.h"
#include "tests/tuner/fakes.h"

namespace hone::tuner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LeaseManagerTest : public testing::Test {
 protected:
  LeaseManagerTest() { Attach("life1", {}); }

  LeaseManager::Returned Attach(const std::string& instance, const std::set<int64_t>& held,
                                bool tells = true) {
    return leases_.Attach("w", instance, held, tells);
  }
  static Lease MakeLease(int64_t fence) {
    Lease lease;
    lease.pending = std::make_shared<PendingTrial>();
    lease.assignment.set_fence(fence);
    lease.assignment.set_trial(fence * 10);
    lease.assignment.set_device("gpu0");
    lease.worker = "w";
    lease.instance = "life1";
    lease.limit_ns = 10 * kSecondNs;
    return lease;
  }
  void Open(int64_t fence) { leases_.Open(MakeLease(fence)); }
  void Pass(int64_t seconds) { clock_.now_ns += seconds * kSecondNs; }
  bool Ran(int64_t fence) { return leases_.Ran(*leases_.Find(fence)); }

  FakeClock clock_;
  LeaseManager leases_{&clock_, 30 * kSecondNs};
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
  Attach("life1", {}, false);
  Open(1);
  Open(2);
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

// Its time runs from the first word, also where others were older than it for a while longer.
TEST_F(LeaseManagerTest, WhatStopsWithoutAResultKeepsItsDeadline) {
  Open(1);
  Open(2);
  leases_.SeeRunning("w", "gpu0", 2, 0);
  leases_.SeeRunning("w", "gpu0", 0, 0);
  EXPECT_FALSE(Ran(2));
  Pass(5);
  leases_.Close(1);
  Pass(4);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(2));
}

TEST_F(LeaseManagerTest, WhatIsBegunTooLateIsLostAllTheSame) {
  Open(1);
  Pass(11);  // no tick came meanwhile
  leases_.SeeRunning("w", "gpu0", 1, 0);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1));
  EXPECT_FALSE(Ran(1));
}

TEST_F(LeaseManagerTest, WhatBeganInTimeHasItsTimeHoweverLateThatIsHeard) {
  Open(1);
  Pass(11);
  leases_.SeeRunning("w", "gpu0", 1, 2 * kSecondNs);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  EXPECT_TRUE(Ran(1));
}

// The artifacts of the later one may come sooner.
TEST_F(LeaseManagerTest, TheOldestWaitsForWhatItsDeviceRunsInstead) {
  Open(1);
  Open(2);
  Pass(8);
  leases_.SeeRunning("w", "gpu0", 2, 0);
  Pass(9);
  leases_.SeeRunning("w", "gpu0", 0, 0);
  leases_.Close(2);
  EXPECT_THAT(leases_.Overdue(), IsEmpty()) << "it is begun about now";
  Pass(3);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1));
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
  EXPECT_THAT(Attach("life1", {}).lost, ElementsAre(1));
  EXPECT_FALSE(Ran(1)) << "the same process dropped it";
}

TEST_F(LeaseManagerTest, AnotherLifeOfTheWorkerHas) {
  Open(1);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  leases_.Detach("w", false);
  EXPECT_THAT(Attach("life2", {}).lost, ElementsAre(1));
  EXPECT_TRUE(Ran(1));
}

TEST_F(LeaseManagerTest, NothingIsBlamedWhereAnotherStreamTookOver) {
  Attach("", {}, false);
  Open(1);
  leases_.Detach("w", true);
  EXPECT_THAT(Attach("", {}, false).lost, ElementsAre(1));
  EXPECT_FALSE(Ran(1));
}

TEST_F(LeaseManagerTest, WhatRunsOnOverABreakKeepsItsTime) {
  Open(1);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  Pass(4);
  leases_.Detach("w", false);
  Pass(4);
  EXPECT_THAT(Attach("life1", {1}).back, ElementsAre(1));
  leases_.SeeRunning("w", "gpu0", 1, 8 * kSecondNs);
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1));
}

// It may have ended meanwhile, and its result be on its way.
TEST_F(LeaseManagerTest, AResultThatComesBackLateHasTimeToBeSentOnce) {
  Open(1);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  leases_.Detach("w", false);
  Pass(29);
  Attach("life1", {1});
  EXPECT_FALSE(Ran(1)) << "nobody has said so";
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  Pass(9);
  leases_.Detach("w", false);
  Attach("life1", {1});
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1)) << "coming back again buys no time";
}

TEST_F(LeaseManagerTest, AWorkerThatIsAwayMayComeBackWithALeaseOfBefore) {
  leases_.Detach("w", false);
  EXPECT_EQ(leases_.OpenHeld(MakeLease(1)), LeaseManager::Held::kAwaited);
  Pass(29);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  Pass(1);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1));
}

TEST_F(LeaseManagerTest, AWorkerThatIsThereHasALeaseOfBeforeOrNot) {
  Attach("life1", {1, 2});
  leases_.Answered("w", 2);
  EXPECT_EQ(leases_.OpenHeld(MakeLease(1)), LeaseManager::Held::kBack);
  EXPECT_EQ(leases_.OpenHeld(MakeLease(2)), LeaseManager::Held::kLost) << "it has sent its result";
  EXPECT_EQ(leases_.OpenHeld(MakeLease(3)), LeaseManager::Held::kLost);
  leases_.SeeRunning("w", "gpu0", 1, 0);
  EXPECT_TRUE(Ran(1));
  Pass(10);
  EXPECT_THAT(leases_.Overdue(), ElementsAre(1)) << "its time is not the grace";
}

TEST_F(LeaseManagerTest, NothingCountsAsRunningBesideWhatOnlyAWorkerOfProtocol2Knows) {
  Attach("life1", {1}, false);
  Open(2);
  EXPECT_FALSE(Ran(2));
  EXPECT_EQ(leases_.OpenHeld(MakeLease(1)), LeaseManager::Held::kBack);
  EXPECT_TRUE(Ran(1)) << "the older one";
  EXPECT_FALSE(Ran(2));
  leases_.Detach("w", false);
  for (const int64_t fence : Attach("life1", {7}, false).lost) leases_.Close(fence);
  Open(8);
  EXPECT_FALSE(Ran(8));
  leases_.Answered("w", 7);
  EXPECT_TRUE(Ran(8));
}

TEST_F(LeaseManagerTest, WhatIsBeingSettledIsNotLost) {
  Open(1);
  leases_.Find(1)->is_settling = true;
  Pass(100);
  EXPECT_THAT(leases_.Overdue(), IsEmpty());
  leases_.Detach("w", false);
  EXPECT_THAT(Attach("life2", {}).lost, IsEmpty());
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
