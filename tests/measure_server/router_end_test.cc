// How a worker leaves: drains, what it gives back, and stopping at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/measure_server/router_fixture.h"

namespace hone::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(RouterTest, DrainsAfterTheLastAcknowledgement) {
  Assign(1);
  SendArtifact();
  v1::WorkResponse drain;
  drain.mutable_drain();
  router_.Receive(drain);
  EXPECT_TRUE(sent_.back().has_draining());
  EXPECT_FALSE(router_.is_finished());
  EXPECT_EQ(MeasureOne(), 1);
  EXPECT_FALSE(router_.is_finished());
  Acknowledge(1);
  EXPECT_TRUE(router_.is_finished());
  EXPECT_FALSE(router_.Next("cpu0").has_value());
  EXPECT_EQ(CreditSent(), 3u);
}

TEST_F(RouterTest, ADrainThatIsTakenBackOpensItsWindowsAgain) {
  router_.Disconnected();
  Connect(/*protocol=*/3);
  Assign(1);
  SendArtifact();
  SayDrain();
  sent_.clear();
  SayUndrain();
  ASSERT_EQ(sent_.size(), 2u);
  ASSERT_TRUE(sent_[0].has_undrained());
  EXPECT_FALSE(sent_[0].undrained().leaves());
  EXPECT_EQ(sent_[1].window().size(), 3u);
  EXPECT_FALSE(router_.is_draining());
  EXPECT_EQ(MeasureOne(), 1);
  Acknowledge(1);
  EXPECT_FALSE(router_.is_finished());
  Assign(2);
  EXPECT_EQ(MeasureOne(), 2);
}

TEST_F(RouterTest, ADrainIsNotTakenBackOfAWorkerThatLeavesByItself) {
  Assign(1);
  SendArtifact();
  router_.Drain();
  SayUndrain();
  ASSERT_TRUE(sent_.back().has_undrained());
  EXPECT_TRUE(sent_.back().undrained().leaves());
  EXPECT_TRUE(router_.is_draining());
}

// Threads of devices leave when they find that it has finished.
TEST_F(RouterTest, ADrainIsNotTakenBackOfAWorkerThatHasFinished) {
  SayDrain();
  EXPECT_TRUE(router_.is_finished());
  Assign(1);  // it crossed the drain
  SayUndrain();
  EXPECT_TRUE(sent_.back().undrained().leaves());
}

TEST_F(RouterTest, GivesBackWhatItHasNoTimeFor) {
  router_.Disconnected();
  Connect(/*protocol=*/3);
  Assign(1);
  SendArtifact();
  EXPECT_EQ(MeasureOne(), 1);
  Assign(2);
  Assign(3);
  const std::optional<Job> running = router_.Next("cpu0");
  ASSERT_TRUE(running.has_value());
  router_.Drain();
  sent_.clear();
  router_.GiveUp("no time");
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_TRUE(sent_[0].device_update().unplugged());
  EXPECT_EQ(sent_[0].device_update().reason(), "no time");
  EXPECT_EQ(cancelled_, 1) << "what runs is ended";
  EXPECT_FALSE(router_.is_finished()) << "a result is not acknowledged";
  router_.Finish("cpu0", FailedResult(running->assignment, v1::MEASURE_OUTCOME_OK, ""));
  EXPECT_THAT(ResultsSent(), IsEmpty()) << "of what was given back";
  Acknowledge(1);
  EXPECT_TRUE(router_.is_finished());
}

TEST_F(RouterTest, TellsTheStreamThatACancelledJobWasTheLastThing) {
  Connect(3);
  Assign(7);
  SendArtifact();
  const std::optional<Job> job = router_.Next("cpu0");
  ASSERT_TRUE(job);
  router_.Drain();
  router_.GiveUp("no time");
  EXPECT_EQ(cancelled_, 1);
  EXPECT_FALSE(said_finished_);
  router_.Finish("cpu0", FailedResult(job->assignment, v1::MEASURE_OUTCOME_DEVICE_LOST, ""));
  EXPECT_TRUE(said_finished_);
}

TEST_F(RouterTest, WhatComesAfterItGaveUpDoesNotRun) {
  Connect(3);
  router_.GiveUp("no time");
  EXPECT_TRUE(sent_.back().has_draining());
  const v1::WorkRequest& told = sent_[sent_.size() - 2];
  EXPECT_TRUE(told.device_update().unplugged());
  Assign(7);
  SendArtifact();
  EXPECT_FALSE(router_.Next("cpu0"));
  EXPECT_TRUE(router_.is_finished());
}

TEST_F(RouterTest, StoppingCancelsWhatRuns) {
  Assign(7);
  SendArtifact();
  ASSERT_TRUE(router_.Next("cpu0"));
  router_.Stop();
  EXPECT_EQ(cancelled_, 1);
}

TEST_F(RouterTest, StopsAtOnce) {
  Assign(1);
  router_.Stop();
  EXPECT_FALSE(router_.Next("cpu0").has_value());
}

TEST(ArtifactCacheTest, HoldsTheLastUsedUpToItsLimit) {
  ArtifactCache cache(250);
  const auto put = [&](char fill) {
    const std::string bytes(100, fill);
    cache.Put(*Artifact::Make(Sha256Hex(bytes), bytes));
    return Sha256Hex(bytes);
  };
  const std::string a = put('a');
  const std::string b = put('b');
  EXPECT_NE(cache.Find(a), nullptr);
  const std::string c = put('c');
  EXPECT_EQ(cache.Find(b), nullptr);
  EXPECT_NE(cache.Find(a), nullptr);
  EXPECT_NE(cache.Find(c), nullptr);
  EXPECT_EQ(cache.size_bytes(), 200u);
}

}  // namespace
}  // namespace hone::measure
