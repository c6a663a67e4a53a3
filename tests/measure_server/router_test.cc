// The worker's side of the protocol, message by message.
#include "measure_server/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

class WorkerTest : public testing::Test {
 protected:
  WorkerTest() : worker_(Options(), &Clock::Real()) { Connect(); }

  WorkerOptions Options() {
    WorkerOptions options;
    options.hello.set_worker("w");
    options.hello.add_devices()->set_id("cpu0");
    options.window = 3;
    options.cancel_running = [this] { cancelled_ += 1; };
    return options;
  }

  void Connect(uint32_t protocol = 2) {
    worker_.Connected([this](v1::WorkRequest message) { sent_.push_back(std::move(message)); });
    v1::WorkResponse welcome;
    welcome.mutable_welcome()->set_protocol(protocol);
    welcome.mutable_welcome()->set_heartbeat_interval_ns(1'000'000'000);
    worker_.Receive(welcome);
  }
  void Assign(int64_t fence) {
    v1::WorkResponse message;
    v1::Assignment& assignment = *message.mutable_assignment();
    assignment.set_fence(fence);
    assignment.set_trial(fence * 10);
    assignment.set_device("cpu0");
    assignment.add_candidates()->set_artifact_digest(Digest());
    worker_.Receive(message);
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
    worker_.Receive(message);
  }
  void SendArtifact() { SendChunk(0, Bytes().size()); }
  void Acknowledge(int64_t fence) {
    v1::WorkResponse message;
    message.mutable_acknowledge()->set_fence(fence);
    worker_.Receive(message);
  }
  void Revoke(int64_t fence) {
    v1::WorkResponse message;
    message.mutable_revoke()->set_fence(fence);
    worker_.Receive(message);
  }
  // Measures the next assignment; returns its fence.
  int64_t MeasureOne() {
    const std::optional<Job> job = worker_.Next();
    if (!job) return -1;
    worker_.Finish(FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
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
  std::vector<v1::WorkRequest> sent_;
  Worker worker_;
};

TEST_F(WorkerTest, FetchesTheAnchorToo) {
  v1::WorkResponse message;
  v1::Assignment& assignment = *message.mutable_assignment();
  assignment.set_device("cpu0");
  assignment.add_candidates()->set_artifact_digest(Digest());
  assignment.mutable_anchor()->set_artifact_digest(Digest());
  worker_.Receive(message);
  EXPECT_EQ(FetchesSent(), 1);
  SendArtifact();
  const std::optional<Job> job = worker_.Next();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->anchor, job->candidates[0]);
  EXPECT_NE(job->anchor, nullptr);
}

TEST_F(WorkerTest, SaysHelloFirstThenGivesCredit) {
  ASSERT_GE(sent_.size(), 2u);
  EXPECT_EQ(sent_[0].hello().worker(), "w");
  EXPECT_THAT(sent_[0].hello().held_fences(), IsEmpty());
  EXPECT_EQ(CreditSent(), 3u);
}

TEST_F(WorkerTest, FetchesAnArtifactOnceAndTakesItInChunks) {
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

TEST_F(WorkerTest, AnArtifactWithAnotherDigestIsADeviceFailure) {
  Assign(1);
  SendChunk(0, Bytes().size(), 1);
  ASSERT_THAT(ResultsSent(), ElementsAre(1));
  EXPECT_EQ(sent_.rbegin()[1].result().candidates(0).outcome(), v1::MEASURE_OUTCOME_DEVICE_LOST);
  EXPECT_EQ(CreditSent(), 4u);
}

TEST_F(WorkerTest, ChunksOutOfOrderAreADeviceFailure) {
  Assign(1);
  SendChunk(1 << 20, 100);
  EXPECT_THAT(ResultsSent(), ElementsAre(1));
}

TEST_F(WorkerTest, DropsAnAssignmentWhoseArtifactTheDaemonGaveUp) {
  Assign(1);
  v1::WorkResponse message;
  message.mutable_chunk()->set_digest(Digest());
  message.mutable_chunk()->set_missing(true);
  worker_.Receive(message);
  EXPECT_THAT(ResultsSent(), IsEmpty());
  EXPECT_EQ(CreditSent(), 4u);
}

TEST_F(WorkerTest, KeepsResultsUntilTheyAreAcknowledged) {
  Assign(1);
  Assign(2);
  SendArtifact();
  MeasureOne();
  MeasureOne();
  Acknowledge(1);
  worker_.Disconnected();
  sent_.clear();
  Connect();
  EXPECT_THAT(sent_[0].hello().held_fences(), ElementsAre(2));
  EXPECT_THAT(ResultsSent(), ElementsAre(2));
  Acknowledge(2);
  worker_.Disconnected();
  sent_.clear();
  Connect();
  EXPECT_THAT(sent_[0].hello().held_fences(), IsEmpty());
}

TEST_F(WorkerTest, ARunningAssignmentOutlivesItsStream) {
  Assign(1);
  Assign(2);
  SendArtifact();
  const std::optional<Job> job = worker_.Next();
  ASSERT_TRUE(job);
  worker_.Disconnected();
  sent_.clear();
  Connect();
  EXPECT_THAT(sent_[0].hello().held_fences(), ElementsAre(1));
  EXPECT_EQ(CreditSent(), 2u);
  worker_.Finish(FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
  EXPECT_THAT(ResultsSent(), ElementsAre(1));
  EXPECT_EQ(CreditSent(), 3u);
}

TEST_F(WorkerTest, ForgetsWhatIsRevoked) {
  Assign(1);
  Assign(2);
  Assign(3);
  SendArtifact();
  Revoke(2);
  EXPECT_EQ(CreditSent(), 4u);
  const std::optional<Job> job = worker_.Next();
  Revoke(1);
  worker_.Finish(FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
  EXPECT_THAT(ResultsSent(), IsEmpty());
  EXPECT_EQ(MeasureOne(), 3);
  Revoke(3);
  worker_.Disconnected();
  sent_.clear();
  Connect();
  EXPECT_THAT(sent_[0].hello().held_fences(), IsEmpty());
}

TEST_F(WorkerTest, CancelsWhatIsRunningWhenItIsRevoked) {
  Assign(1);
  Assign(2);
  SendArtifact();
  const std::optional<Job> job = worker_.Next();
  ASSERT_TRUE(job);
  Revoke(2);
  EXPECT_EQ(cancelled_, 0);
  Revoke(1);
  EXPECT_EQ(cancelled_, 1);
}

TEST_F(WorkerTest, DrainsAfterTheLastAcknowledgement) {
  Assign(1);
  SendArtifact();
  v1::WorkResponse drain;
  drain.mutable_drain();
  worker_.Receive(drain);
  EXPECT_TRUE(sent_.back().has_draining());
  EXPECT_FALSE(worker_.is_finished());
  EXPECT_EQ(MeasureOne(), 1);
  EXPECT_FALSE(worker_.is_finished());
  Acknowledge(1);
  EXPECT_TRUE(worker_.is_finished());
  EXPECT_FALSE(worker_.Next().has_value());
  EXPECT_EQ(CreditSent(), 3u);
}

TEST_F(WorkerTest, OpensAWindowWhereTheDaemonKnowsThem) {
  worker_.Disconnected();
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

TEST_F(WorkerTest, NamesWhatRunsBeforeItRunsAndUntilItHasEnded) {
  worker_.Disconnected();
  Connect(3);
  Assign(7);
  SendArtifact();
  sent_.clear();
  const std::optional<Job> job = worker_.Next();
  ASSERT_TRUE(job);
  ASSERT_EQ(sent_.size(), 1u);
  ASSERT_EQ(sent_[0].heartbeat().running_size(), 1);
  EXPECT_EQ(sent_[0].heartbeat().running(0).device(), "cpu0");
  EXPECT_EQ(sent_[0].heartbeat().running(0).fence(), 7);
  EXPECT_EQ(worker_.HeartbeatMessage().heartbeat().running(0).fence(), 7);
  EXPECT_GE(worker_.HeartbeatMessage().heartbeat().running(0).running_ns(), 0);
  worker_.Disconnected();
  sent_.clear();
  Connect(3);
  EXPECT_EQ(sent_.back().heartbeat().running(0).fence(), 7) << "also to a daemon that comes back";
  worker_.Finish(FailedResult(job->assignment, v1::MEASURE_OUTCOME_OK, ""));
  EXPECT_EQ(worker_.HeartbeatMessage().heartbeat().running(0).fence(), 0);
}

TEST_F(WorkerTest, EchoesDeviceAndAttempt) {
  v1::Assignment assignment;
  assignment.set_device("cpu0");
  assignment.set_attempt(4);
  const v1::MeasureResult result = FailedResult(assignment, v1::MEASURE_OUTCOME_OK, "");
  EXPECT_EQ(result.device(), "cpu0");
  EXPECT_EQ(result.attempt(), 4u);
}

TEST_F(WorkerTest, StopsAtOnce) {
  Assign(1);
  worker_.Stop();
  EXPECT_FALSE(worker_.Next().has_value());
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
