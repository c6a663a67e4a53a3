// Artifacts go out a bounded number of chunks at a time.
#include "tuner/farm/artifact_server.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tuner/fakes.h"
#include "tuner/farm/dispatcher.h"

namespace hone::tuner {
namespace {

namespace v1 = hone::v1;

// Keeps what it is sent until the test says that it was written.
class SlowLink : public WorkerLink {
 public:
  void Send(v1::WorkResponse message) override { sent.push_back(std::move(message)); }
  void SendThen(v1::WorkResponse message, std::function<void()> done) override {
    sent.push_back(std::move(message));
    written.push_back(std::move(done));
  }
  void Close(absl::Status) override {}
  void Write() {
    written.front()();
    written.pop_front();
  }

  std::vector<v1::WorkResponse> sent;
  std::deque<std::function<void()>> written;
};

class ArtifactServerTest : public testing::Test {
 protected:
  // What is never written would hold its link for good.
  ~ArtifactServerTest() override {
    for (const auto& link : links_) link->written.clear();
  }
  std::shared_ptr<SlowLink> NewLink() { return links_.emplace_back(std::make_shared<SlowLink>()); }
  void Put(const std::string& digest, size_t chunks) {
    server_.Put({digest, std::make_shared<const std::string>(10 * chunks, 'x'), ""});
  }
  void Drain() {
    while (executor_.RunOne()) {
    }
  }

  std::vector<std::shared_ptr<SlowLink>> links_;
  ManualExecutor executor_;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>(&executor_);
  ArtifactServer server_{
      1 << 20,
      mailbox_,
      {.chunk_bytes = 10, .chunks_a_stream = 4, .chunks_in_all = 6, .waiting_a_stream = 3}};
};

TEST_F(ArtifactServerTest, SendsNoMoreThanFourChunksBeforeOneIsWritten) {
  Put("a", 10);
  auto link = NewLink();
  ASSERT_TRUE(server_.Serve(link, "a").ok());
  EXPECT_EQ(link->sent.size(), 4u);
  link->Write();
  Drain();
  EXPECT_EQ(link->sent.size(), 5u);
  while (!link->written.empty()) {
    link->Write();
    Drain();
  }
  ASSERT_EQ(link->sent.size(), 10u);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(link->sent[i].chunk().offset(), 10 * i);
  EXPECT_EQ(server_.in_flight(), 0);
}

TEST_F(ArtifactServerTest, StreamsTakeTurnsWithinTheBoundOfAll) {
  Put("a", 10);
  auto first = NewLink();
  auto second = NewLink();
  ASSERT_TRUE(server_.Serve(first, "a").ok());
  ASSERT_TRUE(server_.Serve(second, "a").ok());
  EXPECT_EQ(first->sent.size() + second->sent.size(), 6u);
  for (int i = 0; i < 2; ++i) {
    first->Write();
    Drain();
  }
  EXPECT_EQ(server_.in_flight(), 6);
  EXPECT_GE(second->sent.size(), 3u) << "it had a turn";
}

TEST_F(ArtifactServerTest, AStreamThatEndsGivesItsChunksBack) {
  Put("a", 10);
  auto gone = NewLink();
  ASSERT_TRUE(server_.Serve(gone, "a").ok());
  server_.Forget(gone.get());
  while (!gone->written.empty()) gone->Write();
  Drain();
  EXPECT_EQ(server_.in_flight(), 0);
  EXPECT_EQ(gone->sent.size(), 4u);
}

TEST_F(ArtifactServerTest, RefusesToQueueWithoutEnd) {
  Put("a", 10);
  auto link = NewLink();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(server_.Serve(link, "a").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(server_.Serve(link, "a")));
}

TEST_F(ArtifactServerTest, SaysWhatIsNotHere) {
  auto link = NewLink();
  EXPECT_TRUE(absl::IsNotFound(server_.Serve(link, "nothing")));
  EXPECT_TRUE(link->sent.at(0).chunk().missing());
}

std::shared_ptr<const std::string> Bytes(char fill) {
  return std::make_shared<const std::string>(100, fill);
}

TEST(ArtifactStore, PutsWhatItKeepsOnceAndRemembersThatItWasAskedFor) {
  ArtifactStore store(250);
  const std::shared_ptr<const std::string> first = Bytes('a');
  store.Put({"a", first, ""});
  store.Put({"b", Bytes('b'), ""});
  store.Put({"a", Bytes('a'), ""});
  EXPECT_EQ(store.Find("a"), first);
  store.Put({"c", Bytes('c'), ""});
  EXPECT_NE(store.Find("a"), nullptr) << "it is newer than the one that went";
  EXPECT_EQ(store.Find("b"), nullptr);
}

// Two configs may build to the same code, each with bytes of its own.
TEST(Artifacts, ALeaseHoldsWhatItNeedsWhateverBecomesOfOthersBytes) {
  FakeClock clock;
  ManualExecutor executor;
  const auto store = tuning_db::MakeMemoryStore(clock);
  tuning_db::Task task;
  task.workload = "conv";
  task.target = kFakeTarget;
  std::vector<tuning_db::Trial> trials(3);
  for (size_t i = 0; i < trials.size(); ++i) {
    trials[i].task = store->EnsureTask(task).value();
    trials[i].config_digest = std::to_string(i);
  }
  trials = store->Propose({}, trials).value();
  DispatcherOptions options;
  options.artifact_bytes = 1;
  Dispatcher dispatcher(options, store.get(), &clock, &executor);
  FakeWorker first("w1", &dispatcher, 1);
  FakeWorker second("w2", &dispatcher, 1);
  const auto run = [&](FakeWorker& worker) {
    do {
      while (executor.RunOne()) {
      }
    } while (worker.RunOne());
  };
  const auto measure = [&](size_t trial, const std::string& digest) {
    MeasureRequest request;
    request.trial = trials[trial];
    request.target = kFakeTarget;
    request.timing.set_regime("warm");
    request.candidates.push_back(
        {digest, std::make_shared<const std::string>("conv\n{}" + digest), ""});
    dispatcher.Measure(std::move(request),
                       [](const MeasureReport&, const SettledCallback& settled) {
                         settled(tuning_db::SettleResult::kSettled);
                       });
  };
  first.Connect();
  second.Connect();
  measure(0, "alike");
  measure(1, "alike");
  run(first);
  EXPECT_EQ(first.runs, 1);
  measure(2, "other");
  run(first);
  EXPECT_EQ(first.runs, 2);
  run(second);
  EXPECT_EQ(second.runs, 1);
  const auto missed = [](const v1::WorkResponse& message) { return message.chunk().missing(); };
  EXPECT_TRUE(std::none_of(second.received.begin(), second.received.end(), missed));
}

}  // namespace
}  // namespace hone::tuner
