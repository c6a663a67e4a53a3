// Which trial goes next: nobody is starved, shares follow weights.
#include "tuner/farm/fair_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "support/random.h"
#include "tuner/priority_weight.h"

namespace hone::tuner {
namespace {

FairQueue::Entry Make(int64_t id, const std::string& owner, int priority = 0,
                      const std::string& target = "t") {
  auto entry = std::make_shared<PendingTrial>();
  entry->request.trial.id = id;
  entry->request.submitter = owner;
  entry->request.priority = priority;
  entry->request.target = target;
  return entry;
}

const auto kAnyTarget = [](const DeviceNeed&) { return true; };

TEST(FairQueue, GivesGreaterPriorityOfOneOwnerFirstThenWhoCameFirst) {
  FairQueue queue;
  for (const auto& [id, priority] : {std::pair(1, 0), {2, 1}, {3, 0}, {4, 1}}) {
    queue.Push(Make(id, "a", priority));
  }
  for (const int64_t id : {2, 4, 1, 3}) EXPECT_EQ(queue.Pop()->request.trial.id, id);
  EXPECT_TRUE(queue.empty());
}

TEST(FairQueue, JobsOfOneOwnerTakeTurns) {
  FairQueue queue;
  const auto push = [&queue](int64_t id, int64_t job) {
    FairQueue::Entry entry = Make(id, "a");
    entry->request.job = job;
    queue.Push(entry);
  };
  for (int64_t id = 1; id <= 5; ++id) push(id, 1);
  push(11, 2);
  push(12, 2);
  push(13, 2);
  EXPECT_EQ(queue.size(), 8u);
  ASSERT_NE(queue.Remove(12), nullptr);
  EXPECT_EQ(queue.Remove(12), nullptr);
  for (const int64_t id : {1, 11, 2, 13, 3, 4, 5}) EXPECT_EQ(queue.Pop()->request.trial.id, id);
  EXPECT_TRUE(queue.empty());
}

TEST(FairQueue, SharesFollowTheWeightsOfPriorities) {
  FairQueue queue;
  for (int64_t id = 0; id < 400; ++id) {
    queue.Push(Make(id, "plain", 0));
    queue.Push(Make(id, "urgent", 2));
  }
  std::map<std::string, int> taken;
  for (int i = 0; i < 100; ++i) ++taken[queue.Pop()->request.submitter];
  EXPECT_EQ(taken["plain"], 20);
  EXPECT_EQ(taken["urgent"], 80);
}

TEST(FairQueue, AnOwnerThatWasIdleNeitherSavesUpNorOwes) {
  FairQueue queue;
  for (int64_t id = 0; id < 1000; ++id) queue.Push(Make(id, "busy"));
  for (int i = 0; i < 500; ++i) queue.Pop();
  for (int64_t id = 0; id < 100; ++id) queue.Push(Make(id, "late"));
  std::map<std::string, int> taken;
  for (int i = 0; i < 100; ++i) ++taken[queue.Pop()->request.submitter];
  EXPECT_NEAR(taken["late"], 50, 1);
}

// However owners come and go, one with something waiting is served after at most as many others'
// turns as there are owners of its weight.
TEST(FairQueue, NobodyWaitsForMoreThanARoundOfTheOthers) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    FairQueue queue;
    std::map<std::string, int> waiting;
    std::map<std::string, int> passed;  // turns of others since it was last served
    int64_t id = 0;
    for (int step = 0; step < 2000; ++step) {
      if (queue.empty() || random.Below(3) != 0) {
        const std::string owner(1, static_cast<char>('a' + random.Below(6)));
        if (waiting[owner]++ == 0) passed[owner] = 0;
        queue.Push(Make(++id, owner));
        continue;
      }
      const std::string owner = queue.Pop()->request.submitter;
      --waiting[owner];
      for (auto& [other, count] : passed) count += other != owner && waiting[other] > 0;
      passed[owner] = 0;
      for (const auto& [other, count] : passed) {
        if (waiting[other] > 0) ASSERT_LE(count, 12) << other << " of seed " << seed;
      }
    }
  }
}

// One of low priority, measured first, does not hold back what its owner brings later.
TEST(FairQueue, LowPriorityDoesNotHoldBackItsOwnersHighPriority) {
  for (const bool still_waits : {false, true}) {
    FairQueue queue;
    for (int64_t id = 100; id < 200; ++id) queue.Push(Make(id, "other"));
    queue.Push(Make(1, "mine", -kMostPriority));
    if (still_waits) queue.Push(Make(2, "mine", -kMostPriority));
    while (queue.Pop()->request.submitter != "mine") {
    }
    for (int64_t id = 10; id < 20; ++id) queue.Push(Make(id, "mine", kMostPriority));
    // Ten of a sixteenth of a turn each, after at most one of the others' turns.
    std::map<std::string, int> taken;
    for (int i = 0; i < 11; ++i) ++taken[queue.Pop()->request.submitter];
    EXPECT_EQ(taken["mine"], 10) << still_waits;
  }
}

// However often it comes back, nobody gets more by what it gave up of its priority before.
TEST(FairQueue, ComingBackWithEqualPriorityGivesNoMoreThanAShare) {
  FairQueue queue;
  for (int64_t id = 1000; id < 2000; ++id) queue.Push(Make(id, "other"));
  queue.Push(Make(1, "mine"));
  std::map<std::string, int> taken;
  for (int i = 0; i < 200; ++i) {
    const std::string owner = queue.Pop()->request.submitter;
    ++taken[owner];
    if (owner == "mine") queue.Push(Make(2 + i, "mine"));
  }
  EXPECT_NEAR(taken["mine"], 100, 1);
}

TEST(FairQueue, TheLeastUrgentWaitsForNoMoreThanTheGreatestShare) {
  FairQueue queue;
  for (int64_t id = 0; id < 4 * kMostShare; ++id) queue.Push(Make(id, "urgent", 99));
  for (int64_t id = 0; id < 3; ++id) queue.Push(Make(-id, "patient", -99));
  std::map<std::string, int> taken;
  for (int i = 0; i < 3 * (kMostShare + 1); ++i) ++taken[queue.Pop()->request.submitter];
  EXPECT_EQ(taken["patient"], 3);
}

TEST(FairQueue, RemovesATrialWherever) {
  FairQueue queue;
  queue.Push(Make(1, "a"));
  queue.Push(Make(2, "b"));
  EXPECT_EQ(queue.Remove(1)->request.trial.id, 1);
  EXPECT_EQ(queue.Remove(1), nullptr);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.Pop()->request.trial.id, 2);
  EXPECT_TRUE(queue.empty());
}

TEST(TargetQueues, TargetsOfTheSameDevicesTakeTurns) {
  TargetQueues queues;
  for (int64_t id = 0; id < 100; ++id) queues.Push(Make(id, "a", 9, "wide"));
  for (int64_t id = 100; id < 200; ++id) queues.Push(Make(id, "b", 0, "narrow"));
  std::map<std::string, int> taken;
  for (int i = 0; i < 100; ++i) ++taken[queues.PopNext(kAnyTarget)->request.target];
  EXPECT_EQ(taken["wide"], 50);
  EXPECT_EQ(queues.size(), 100u);
}

TEST(TargetQueues, ATargetWithoutRoomIsPassedOverAndMakesUpForLittleLater) {
  TargetQueues queues;
  for (int64_t id = 0; id < 1000; ++id) queues.Push(Make(id, "a", 0, "served"));
  for (int64_t id = 1000; id < 2000; ++id) queues.Push(Make(id, "a", 0, "full"));
  const auto is_served = [](const DeviceNeed& need) { return need.target == "served"; };
  for (int i = 0; i < 500; ++i) EXPECT_EQ(queues.PopNext(is_served)->request.target, "served");
  std::map<std::string, int> taken;
  for (int i = 0; i < 200; ++i) ++taken[queues.PopNext(kAnyTarget)->request.target];
  EXPECT_GE(taken["served"], 80);
  EXPECT_GE(taken["full"], 80);
  const auto nobody = [](const DeviceNeed&) { return false; };
  EXPECT_EQ(queues.PopNext(nobody), nullptr);
}

}  // namespace
}  // namespace hone::tuner
