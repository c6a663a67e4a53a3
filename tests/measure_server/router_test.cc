// The worker's side of the protocol, message by message.
#include "measure_server/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "support/digest.h"

namespace hone::measure {
namespace {

namespace v1 = hone::v1;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string& Bytes() {
  static const auto* const bytes = new std::string(3'000'000, 'k');
  return *bytes;
}
const std::string& Digest() {
  static const auto* const digest = new std::string(Sha256Hex(Bytes()));
  return *digest;
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() : router_(Options(), &Clock::Real()) { Connect(); }

  RouterOptions Options() {
    RouterOptions options;
    options.hello.set_worker("w");
    options.hello.add_devices()->set_id("cpu0");
    options.window = 3;
    options.cancel = [this](const std::string&, int64_t) { cancelled_ += 1; };
    return options;
  }

  void Connect(uint32_t protocol = 2) {
    SayHello();
    Welcome(protocol);
  }
  void SayHello() {
    router_.Connected([this](v1::WorkRequest message) { sent_.push_back(std::move(message)); },
                      [this] { said_finished_ = true; });
  }
  void Welcome(uint32_t protocol) {
    v1::WorkResponse welcome;
    welcome.mutable_welcome()->set_protocol(protocol);
    welcome.mutable_welcome()->set_heartbeat_interval_ns(1'000'000'000);
    router_.Receive(welcome);
  }
  void Assign(int64_t fence) {
    v1::WorkResponse message;
    v1::Assignment& assignment = *message.mutable_assignment();
    assignment.set_fence(fence);
    assignment.set_trial(fence * 10);
    assignment.set_device("cpu0");
    assignment.add_candidates()->set_artifact_digest(Digest());
    router_.Receive(message);
  }
  void SendChunk(uint64_t offset, uint64_t size, char flip = 0) {
    v1::WorkResponse message;
    v1::ArtifactChunk& chunk = *message.mutable_chunk();
    chunk.set_digest(Digest());
    chunk.set_total_bytes(Bytes().size());
    chunk.set_offset(offset);
    std::string data = Bytes().substr(offset, size);
    data[0] = static_cast<char>(data[0] ^ flip);
    chunk.set_data(data);
    router_.Receive(message);
  }
  void SendArtifact() { SendChunk(0, Bytes().size()); }
  void Acknowledge(int64_t fence) {
    v1::WorkResponse message;
    message.mutable_acknowledge()->set_fence(fence);
    router_.Receive(message);
  }
  void Revoke(int64_t fence) {
    v1::WorkResponse message;
    message.mutable_revoke()->set_fence(fence);
    router_.Receive(message);
  }
  void SayDrain() {
    v1::WorkResponse message;
    message.mutable_drain();
    router_.Receive(message);
  }
  void SayUndrain() {
    v1::WorkResponse message;
    message.mutable_undrain();
    router_.Receive(message);
  }
  // Measures the next assignment; returns its fence.
  int64_t MeasureOne() {
    const std::optional<Job> job = router_.Next("cpu0");
    if (!job) return -1;
    router_.Finish("cpu0", FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
    return job->assignment.fence();
  }
  std::vector<int64_t> ResultsSent() const {
    std::vector<int64_t> fences;
    for (const v1::WorkRequest& message : sent_) {
      if (message.has_result()) fences.push_back(message.result().fence());
    }
    return fences;
  }
  uint32_t CreditSent() const {
    uint32_t credit = 0;
    for (const v1::WorkRequest& message : sent_) credit += message.credit().count();
    return credit;
  }
  int FetchesSent() const {
    int count = 0;
    for (const v1::WorkRequest& message : sent_) count += message.has_fetch();
    return count;
  }

  int cancelled_ = 0;
  bool said_finished_ = false;
  std::vector<v1::WorkRequest> sent_;
  Router router_;
};

TEST_F(RouterTest, FetchesTheAnchorToo) {
  v1::WorkResponse message;
  v1::Assignment& assignment = *message.mutable_assignment();
  assignment.set_device("cpu0");
  assignment.add_candidates()->set_artifact_digest(Digest());
  assignment.mutable_anchor()->set_artifact_digest(Digest());
  router_.Receive(message);
  EXPECT_EQ(FetchesSent(), 1);
  SendArtifact();
  const std::optional<Job> job = router_.Next("cpu0");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->anchor, job->candidates[0]);
  EXPECT_NE(job->anchor, nullptr);
}

TEST_F(RouterTest, SaysHelloFirstThenGivesCredit) {
  ASSERT_GE(sent_.size(), 2u);
  EXPECT_EQ(sent_[0].hello().worker(), "w");
  EXPECT_THAT(sent_[0].hello().held_fences(), IsEmpty());
  EXPECT_EQ(CreditSent(), 3u);
}

TEST_F(RouterTest, FetchesAnArtifactOnceAndTakesItInChunks) {
  Assign(1);
  Assign(2);
  EXPECT_EQ(FetchesSent(), 1);
  SendChunk(0, 1 << 20);
  SendChunk(1 << 20, 1 << 20);
  SendChunk(2 << 20, 1 << 20);
  EXPECT_EQ(MeasureOne(), 1);
  EXPECT_EQ(MeasureOne(), 2);
  Assign(3);
  EXPECT_EQ(FetchesSent(), 1);
  EXPECT_EQ(MeasureOne(), 3);
  EXPECT_THAT(ResultsSent(), ElementsAre(1, 2, 3));
  EXPECT_EQ(CreditSent(), 6u);
}

TEST_F(RouterTest, AnArtifactWithAnotherDigestIsADeviceFailure) {
  Assign(1);
  SendChunk(0, Bytes().size(), 1);
  ASSERT_THAT(ResultsSent(), ElementsAre(1));
  EXPECT_EQ(sent_.rbegin()[1].result().candidates(0).outcome(), v1::MEASURE_OUTCOME_DEVICE_LOST);
  EXPECT_EQ(CreditSent(), 4u);
}

TEST_F(RouterTest, ChunksOutOfOrderAreADeviceFailure) {
  Assign(1);
  SendChunk(1 << 20, 100);
  EXPECT_THAT(ResultsSent(), ElementsAre(1));
}

TEST_F(RouterTest, DropsAnAssignmentWhoseArtifactTheDaemonGaveUp) {
  Assign(1);
  v1::WorkResponse message;
  message.mutable_chunk()->set_digest(Digest());
  message.mutable_chunk()->set_missing(true);
  router_.Receive(message);
  EXPECT_THAT(ResultsSent(), IsEmpty());
  EXPECT_EQ(CreditSent(), 4u);
}

TEST_F(RouterTest, KeepsResultsUntilTheyAreAcknowledged) {
  Assign(1);
  Assign(2);
  SendArtifact();
  MeasureOne();
  MeasureOne();
  Acknowledge(1);
  router_.Disconnected();
  sent_.clear();
  Connect();
  EXPECT_THAT(sent_[0].hello().held_fences(), ElementsAre(2));
  EXPECT_THAT(ResultsSent(), ElementsAre(2));
  Acknowledge(2);
  router_.Disconnected();
  sent_.clear();
  Connect();
  EXPECT_THAT(sent_[0].hello().held_fences(), IsEmpty());
}

TEST_F(RouterTest, ARunningAssignmentOutlivesItsStream) {
  Assign(1);
  Assign(2);
  SendArtifact();
  const std::optional<Job> job = router_.Next("cpu0");
  ASSERT_TRUE(job);
  router_.Disconnected();
  sent_.clear();
  Connect();
  EXPECT_THAT(sent_[0].hello().held_fences(), ElementsAre(1));
  EXPECT_EQ(CreditSent(), 2u);
  router_.Finish("cpu0", FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
  EXPECT_THAT(ResultsSent(), ElementsAre(1));
  EXPECT_EQ(CreditSent(), 3u);
}

TEST_F(RouterTest, ForgetsWhatIsRevoked) {
  Assign(1);
  Assign(2);
  Assign(3);
  SendArtifact();
  Revoke(2);
  EXPECT_EQ(CreditSent(), 4u);
  const std::optional<Job> job = router_.Next("cpu0");
  Revoke(1);
  router_.Finish("cpu0", FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
  EXPECT_THAT(ResultsSent(), IsEmpty());
  EXPECT_EQ(MeasureOne(), 3);
  Revoke(3);
  router_.Disconnected();
  sent_.clear();
  Connect();
  EXPECT_THAT(sent_[0].hello().held_fences(), IsEmpty());
}

TEST_F(RouterTest, CancelsWhatIsRunningWhenItIsRevoked) {
  Assign(1);
  Assign(2);
  SendArtifact();
  const std::optional<Job> job = router_.Next("cpu0");
  ASSERT_TRUE(job);
  Revoke(2);
  EXPECT_EQ(cancelled_, 0);
  Revoke(1);
  EXPECT_EQ(cancelled_, 1);
}

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

TEST_F(RouterTest, OpensAWindowWhereTheDaemonKnowsThem) {
  router_.Disconnected();
  sent_.clear();
  Connect(3);
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_TRUE(sent_[0].has_hello());
  EXPECT_EQ(sent_[1].window().device(), "cpu0");
  EXPECT_EQ(sent_[1].window().size(), 3u);
  Assign(1);
  SendArtifact();
  MeasureOne();
  EXPECT_EQ(CreditSent(), 0u) << "a window is said once";
}

TEST_F(RouterTest, NamesWhatRunsBeforeItRunsAndUntilItHasEnded) {
  router_.Disconnected();
  Connect(3);
  Assign(7);
  SendArtifact();
  sent_.clear();
  const std::optional<Job> job = router_.Next("cpu0");
  ASSERT_TRUE(job);
  ASSERT_EQ(sent_.size(), 1u);
  ASSERT_EQ(sent_[0].heartbeat().running_size(), 1);
  EXPECT_EQ(sent_[0].heartbeat().running(0).device(), "cpu0");
  EXPECT_EQ(sent_[0].heartbeat().running(0).fence(), 7);
  EXPECT_EQ(router_.HeartbeatMessage().heartbeat().running(0).fence(), 7);
  EXPECT_GE(router_.HeartbeatMessage().heartbeat().running(0).running_ns(), 0);
  router_.Disconnected();
  sent_.clear();
  Connect(3);
  EXPECT_EQ(sent_.back().heartbeat().running(0).fence(), 7) << "also to a daemon that comes back";
  router_.Finish("cpu0", FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
  EXPECT_EQ(router_.HeartbeatMessage().heartbeat().running(0).fence(), 0);
}

TEST_F(RouterTest, ADeviceThatWentHasLostWhatItWasGiven) {
  router_.Disconnected();
  Connect(3);
  Assign(1);
  Assign(2);
  SendArtifact();
  const std::optional<Job> job = router_.Next("cpu0");
  ASSERT_TRUE(job);
  sent_.clear();
  router_.Unplug("cpu0", "its cores went");
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_TRUE(sent_[0].device_update().unplugged());
  EXPECT_EQ(sent_[0].device_update().device().id(), "cpu0");
  EXPECT_EQ(sent_[0].device_update().reason(), "its cores went");
  EXPECT_EQ(cancelled_, 1);
  router_.Finish("cpu0", FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
  EXPECT_THAT(ResultsSent(), IsEmpty());
  Assign(3);  // given before the daemon knew
  router_.Disconnected();
  sent_.clear();
  Connect(3);
  EXPECT_EQ(sent_[0].hello().devices_size(), 0);
  EXPECT_THAT(sent_[0].hello().held_fences(), IsEmpty());
  sent_.clear();
  v1::Device back;
  back.set_id("cpu0");
  back.set_calibrator_ns(5);
  router_.Update(back);
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_EQ(sent_[0].device_update().device().calibrator_ns(), 5);
  EXPECT_FALSE(sent_[0].device_update().unplugged());
  EXPECT_EQ(sent_[1].window().size(), 3u);
  Assign(4);
  EXPECT_EQ(MeasureOne(), 4);
}

TEST_F(RouterTest, ADaemonOfProtocol2IsToldTrialByTrialThatADeviceWent) {
  Assign(1);
  Assign(2);
  SendArtifact();
  ASSERT_TRUE(router_.Next("cpu0"));
  router_.Unplug("cpu0", "its cores went");
  EXPECT_THAT(ResultsSent(), ElementsAre(2, 1));
  EXPECT_EQ(sent_.back().result().candidates(0).outcome(), v1::MEASURE_OUTCOME_DEVICE_LOST);
  EXPECT_EQ(sent_.back().result().candidates(0).message(), "its cores went");
}

// Which words the daemon knows its Welcome says, so what changed since the Hello follows that.
TEST_F(RouterTest, TellsAfterWelcomeWhatChangedSinceTheHello) {
  router_.Disconnected();
  Connect(3);
  Assign(1);
  SendArtifact();
  ASSERT_TRUE(router_.Next("cpu0"));
  router_.Disconnected();
  sent_.clear();
  SayHello();
  EXPECT_THAT(sent_[0].hello().held_fences(), ElementsAre(1));
  router_.Unplug("cpu0", "its cores went");
  v1::Device back;
  back.set_id("cpu0");
  back.set_calibrator_ns(5);
  router_.Update(back);
  ASSERT_EQ(sent_.size(), 1u) << "there is nothing to say before Welcome";
  Welcome(3);
  ASSERT_GE(sent_.size(), 4u);
  EXPECT_TRUE(sent_[1].device_update().unplugged()) << "what the Hello named is lost";
  EXPECT_EQ(sent_[1].device_update().reason(), "its cores went");
  EXPECT_FALSE(sent_[2].device_update().unplugged());
  EXPECT_EQ(sent_[2].device_update().device().calibrator_ns(), 5);
  EXPECT_EQ(sent_[3].window().size(), 3u);
}

TEST_F(RouterTest, ADeviceThatWentBeforeWelcomeHasNoWindow) {
  router_.Disconnected();
  sent_.clear();
  SayHello();
  router_.Unplug("cpu0", "its cores went");
  Welcome(3);
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_TRUE(sent_[1].device_update().unplugged());
  router_.Disconnected();
  sent_.clear();
  Connect(3);
  EXPECT_EQ(sent_.size(), 1u) << "it is told once; the next Hello does not name the device";
}

TEST_F(RouterTest, ADaemonOfProtocol2IsToldAfterWelcomeWhatWasLostSinceTheHello) {
  Assign(1);
  SendArtifact();
  ASSERT_TRUE(router_.Next("cpu0"));
  router_.Disconnected();
  sent_.clear();
  SayHello();
  router_.Unplug("cpu0", "its cores went");
  EXPECT_THAT(ResultsSent(), IsEmpty());
  Welcome(2);
  ASSERT_THAT(ResultsSent(), ElementsAre(1));
  EXPECT_EQ(sent_.back().result().candidates(0).outcome(), v1::MEASURE_OUTCOME_DEVICE_LOST);
}

TEST_F(RouterTest, TheLastDeviceThatIsLostTakesTheWorkerWithIt) {
  router_.Lose("cpu0", "its zygote is gone");
  EXPECT_TRUE(router_.is_draining());
  EXPECT_TRUE(router_.is_finished());
  EXPECT_FALSE(router_.Next("cpu0").has_value());
}

// Two devices of one worker.
class TwoDevicesTest : public testing::Test {
 protected:
  void Start(bool share) {
    RouterOptions options;
    for (const char* id : {"a", "b"}) {
      v1::Device& device = *options.hello.add_devices();
      device.set_id(id);
      device.add_resources(share ? "cores" : id);
    }
    router_ = std::make_unique<Router>(options, &Clock::Real());
    router_->Connected([](v1::WorkRequest) {});
    v1::WorkResponse welcome;
    welcome.mutable_welcome()->set_protocol(3);
    router_->Receive(welcome);
  }
  // Without artifacts: it is ready at once.
  void Assign(const std::string& device, int64_t fence) {
    v1::WorkResponse message;
    message.mutable_assignment()->set_device(device);
    message.mutable_assignment()->set_fence(fence);
    router_->Receive(message);
  }
  int64_t Begin(const std::string& device) {
    const std::optional<Job> job = router_->Next(device);
    return job ? job->assignment.fence() : -1;
  }
  void End(const std::string& device) { router_->Finish(device, {}); }

  std::unique_ptr<Router> router_;
};

TEST_F(TwoDevicesTest, MeasureAtOnceWhereTheyShareNothing) {
  Start(/*share=*/false);
  Assign("a", 1);
  Assign("b", 2);
  EXPECT_EQ(Begin("a"), 1);
  EXPECT_EQ(Begin("b"), 2);
}

TEST_F(TwoDevicesTest, MeasureByTurnsWhereTheyShareAResource) {
  Start(/*share=*/true);
  Assign("a", 1);
  Assign("b", 2);
  Assign("a", 3);
  std::mutex mutex;
  std::vector<int64_t> begun;
  std::atomic<int> running{0};
  std::atomic<int> most_running{0};
  const auto work = [&](const std::string& device, int count) {
    for (int i = 0; i < count; ++i) {
      const int64_t fence = Begin(device);
      most_running = std::max(most_running.load(), ++running);
      {
        const std::lock_guard lock(mutex);
        begun.push_back(fence);
      }
      std::this_thread::yield();
      --running;
      End(device);
    }
  };
  std::thread b([&] { work("b", 1); });
  work("a", 2);
  b.join();
  EXPECT_THAT(begun, ElementsAre(1, 2, 3));
  EXPECT_EQ(most_running, 1);
}

TEST_F(RouterTest, EchoesDeviceAndAttempt) {
  v1::Assignment assignment;
  assignment.set_device("cpu0");
  assignment.set_attempt(4);
  const v1::MeasureResult result = FailedResult(assignment, v1::MEASURE_OUTCOME_OK, "");
  EXPECT_EQ(result.device(), "cpu0");
  EXPECT_EQ(result.attempt(), 4u);
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
