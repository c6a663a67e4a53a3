// The worker's side of the protocol, message by message. How it ends is in router_end_test.cc.
#include "measure_server/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "tests/measure_server/router_fixture.h"

namespace hone::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

TEST_F(RouterTest, ADeviceThatLoadsAheadHoldsSoManyMore) {
  RouterOptions options = Options();
  options.ahead["cpu0"] = 4;
  Router router(options, &Clock::Real());
  v1::WorkResponse welcome;
  for (const uint32_t protocol : {2u, 3u}) {
    sent_.clear();
    router.Connected([this](v1::WorkRequest message) { sent_.push_back(std::move(message)); });
    welcome.mutable_welcome()->set_protocol(protocol);
    router.Receive(welcome);
    EXPECT_EQ(protocol == 2 ? CreditSent() : sent_.at(1).window().size(), 7u);
    router.Disconnected();
  }
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

}  // namespace
}  // namespace hone::measure
