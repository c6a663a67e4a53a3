// Leases, releases and settlements in batches; what a daemon that comes back must know.
#include <future>

#include "tests/tuning_db/conformance.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// The answers of a batch: `start(done)` begins it.
template <typename Answers, typename Start>
Answers Wait(const Start& start) {
  std::promise<Answers> promise;
  EXPECT_TRUE(start([&](Answers answers) { promise.set_value(std::move(answers)); }).ok());
  return promise.get_future().get();
}

TrialStore::LeaseAnswers LeaseMany(Store& store, const std::vector<LeaseRequest>& requests) {
  return Wait<TrialStore::LeaseAnswers>(
      [&](auto done) { return store.LeaseMany(requests, std::move(done)); });
}

TrialStore::SettleAnswers SettleMany(Store& store, const std::vector<Settlement>& settlements) {
  return Wait<TrialStore::SettleAnswers>(
      [&](auto done) { return store.SettleMany(settlements, std::move(done)); });
}

TrialStore::ReleaseAnswers ReleaseMany(Store& store, const std::vector<ReleaseRequest>& requests) {
  return Wait<TrialStore::ReleaseAnswers>(
      [&](auto done) { return store.ReleaseMany(requests, std::move(done)); });
}

TEST_P(Conformance, EachLeaseOfABatchHasItsOwnAnswer) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const auto trials = store_->Propose({ExampleTrial(task, 0, 1), ExampleTrial(task, 0, 2)}).value();
  const int64_t settled = SettleOne(*store_, ExampleTrial(task, 0, 3)).id;
  const auto answers = LeaseMany(*store_, {{.trial = trials[1].id, .worker = "w"},
                                           {.trial = settled, .worker = "w"},
                                           {.trial = 99, .worker = "w"},
                                           {.trial = trials[0].id, .worker = "w"}});
  ASSERT_THAT(answers, SizeIs(4));
  ASSERT_TRUE(answers[0].ok());
  ASSERT_TRUE(answers[3].ok());
  EXPECT_EQ(answers[0]->id, trials[1].id);
  EXPECT_GT(answers[3]->fence, answers[0]->fence) << "in the order of the requests";
  EXPECT_TRUE(absl::IsFailedPrecondition(answers[1].status()));
  EXPECT_TRUE(absl::IsNotFound(answers[2].status()));
}

TEST_P(Conformance, EachSettlementOfABatchHasItsOwnAnswer) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t job = store_->SubmitJob(ExampleJob(task)).value().id;
  Trial confirm = ExampleTrial(task, job, 9);
  confirm.purpose = Purpose::kConfirm;
  const auto trials =
      store_->Propose({ExampleTrial(task, job, 1), ExampleTrial(task, job, 2), confirm}).value();
  std::vector<int64_t> fences;
  for (const Trial& trial : trials) {
    fences.push_back(store_->Lease(trial.id, "w").value().fence);
  }
  const auto answers =
      SettleMany(*store_, {{.fence = fences[0], .record = ExampleRecord(trials[0].id)},
                           {.fence = fences[0], .record = ExampleRecord(trials[1].id)},
                           {.fence = fences[0], .record = ExampleRecord(trials[0].id)},
                           {.fence = 5, .record = ExampleRecord(99)},
                           {.fence = fences[1],
                            .record = ExampleRecord(trials[1].id),
                            .final = ExampleFinal(task, job)},
                           {.fence = fences[2],
                            .record = ExampleRecord(trials[2].id),
                            .final = ExampleFinal(task, job)}});
  ASSERT_THAT(answers, SizeIs(6));
  EXPECT_EQ(answers[0].value(), SettleResult::kSettled);
  EXPECT_EQ(answers[1].value(), SettleResult::kRefused);
  EXPECT_EQ(answers[2].value(), SettleResult::kDuplicate);
  EXPECT_TRUE(absl::IsNotFound(answers[3].status()));
  EXPECT_TRUE(absl::IsInvalidArgument(answers[4].status())) << "no confirm trial";
  EXPECT_EQ(answers[5].value(), SettleResult::kSettled);
  Reopen();
  EXPECT_THAT(store_->Records({}).value(), SizeIs(2));
  EXPECT_THAT(Ids(store_->OpenTrials(0).value()), testing::ElementsAre(trials[1].id));
  EXPECT_TRUE(store_->NewestFinal(task, kSignature)->has_value());
}

TEST_P(Conformance, AnEmptyBatchIsAnswered) {
  EXPECT_THAT(LeaseMany(*store_, {}), IsEmpty());
  EXPECT_THAT(SettleMany(*store_, {}), IsEmpty());
}

TEST_P(Conformance, LeasesKeepTheirDeviceAndLimit) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t id = store_->Propose({ExampleTrial(task, 0)}).value().at(0).id;
  const Trial leased =
      store_->Lease({.trial = id, .worker = "w", .device = "gpu1", .limit_ns = 77}).value();
  EXPECT_EQ(leased.device, "gpu1");
  Reopen();
  const Trial open = store_->OpenTrials(0).value().at(0);
  EXPECT_EQ(open.state, TrialState::kLeased);
  EXPECT_EQ(open.worker, "w");
  EXPECT_EQ(open.device, "gpu1");
  EXPECT_EQ(open.limit_ns, 77);
  ASSERT_TRUE(store_->Release(id, open.fence).ok());
  EXPECT_EQ(store_->OpenTrials(0).value().at(0).device, "") << "it is nobody's";
}

TEST_P(Conformance, LeasesKeepWhatTheyAssigned) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t id = store_->Propose({ExampleTrial(task, 0)}).value().at(0).id;
  const Assigned assigned = {.candidates = {{"digest a", "clang 21 -O3"}, {"digest b", "gcc"}},
                             .regime = "cold_constants",
                             .rounds = 5,
                             .reference_digest = "digest r",
                             .anchor_digest = "digest b"};
  const int64_t first =
      store_->Lease({.trial = id, .worker = "w", .assigned = assigned}).value().fence;
  Reopen();
  EXPECT_EQ(store_->OpenTrials(0).value().at(0).assigned, assigned);
  ASSERT_TRUE(store_->Release(id, first).ok());
  EXPECT_EQ(store_->OpenTrials(0).value().at(0).assigned, Assigned()) << "it goes with the lease";
  Assigned other;
  other.candidates = {{"digest c", ""}};
  store_->Lease({.trial = id, .worker = "w", .assigned = assigned}).value();
  const Trial leased = store_->Lease({.trial = id, .worker = "w", .assigned = other}).value();
  EXPECT_EQ(leased.assigned, other) << "of the newest lease";
  Reopen();
  EXPECT_EQ(store_->OpenTrials(0).value().at(0).assigned, other);
  ASSERT_TRUE(store_->Settle(leased.fence, ExampleRecord(id)).ok());
  EXPECT_EQ(store_->Records({}).value().at(0).of_trial.assigned, Assigned());
}

TEST_P(Conformance, TrialsAreReadAsTheyAre) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t open = store_->Propose({ExampleTrial(task, 0, 1)}).value().at(0).id;
  const int64_t settled = SettleOne(*store_, ExampleTrial(task, 0, 2)).id;
  const int64_t fence = store_->Lease(open, "w").value().fence;
  const auto answers = Wait<TrialStore::GetAnswers>(
      [&](auto done) { return store_->GetMany({settled, 99, open}, std::move(done)); });
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0]->state, TrialState::kSettled);
  EXPECT_TRUE(absl::IsNotFound(answers[1].status()));
  EXPECT_EQ(answers[2]->id, open);
  EXPECT_EQ(answers[2]->state, TrialState::kLeased);
  EXPECT_EQ(answers[2]->fence, fence);
}

TEST_P(Conformance, StrikesAreCountedOnceALeaseAndKept) {
  const int64_t task = store_->EnsureTask(ExampleTask()).value();
  const int64_t id = store_->Propose({ExampleTrial(task, 0)}).value().at(0).id;
  const int64_t first = store_->Lease(id, "w").value().fence;
  const auto answers = ReleaseMany(*store_, {{.trial = id, .fence = first, .is_strike = true},
                                             {.trial = id, .fence = first, .is_strike = true},
                                             {.trial = id, .fence = first + 1, .is_strike = true}});
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0]->strikes, 1);
  EXPECT_EQ(answers[1]->strikes, 1) << "a repeated release is harmless";
  EXPECT_TRUE(absl::IsFailedPrecondition(answers[2].status()));
  ASSERT_TRUE(store_->Release(id, store_->Lease(id, "w").value().fence).ok());
  Reopen();
  EXPECT_EQ(store_->OpenTrials(0).value().at(0).strikes, 1);
  const Trial leased = store_->Lease(id, "w").value();
  EXPECT_EQ(leased.strikes, 1);
  EXPECT_TRUE(store_->Settle(leased.fence, ExampleRecord(id)).ok());
  EXPECT_EQ(store_->Records({}).value().at(0).of_trial.strikes, 1);
}

TEST_P(Conformance, RestsOfDevicesAreKept) {
  ASSERT_TRUE(
      store_->SetDeviceRest({"w2", "gpu0", 3, 1, int64_t{3600} * 1'000'000'000, "lost"}).ok());
  ASSERT_TRUE(store_->SetDeviceRest({"w1", "cpu", 1, 0, 0, ""}).ok());
  Reopen();
  auto rests = store_->ListDeviceRests().value();
  ASSERT_THAT(rests, SizeIs(2));
  EXPECT_EQ(rests[0].worker, "w1");
  EXPECT_EQ(rests[0].losses, 1);
  EXPECT_EQ(rests[0].rest_ns, 0);
  EXPECT_EQ(rests[1].device, "gpu0");
  EXPECT_EQ(rests[1].rests, 1);
  EXPECT_GT(rests[1].rest_ns, 0);
  EXPECT_LE(rests[1].rest_ns, int64_t{3600} * 1'000'000'000);
  EXPECT_EQ(rests[1].reason, "lost");
  ASSERT_TRUE(store_->SetDeviceRest({"w2", "gpu0", 0, 0, 0, ""}).ok());
  EXPECT_THAT(store_->ListDeviceRests().value(), SizeIs(1)) << "it is well again";
}

}  // namespace
}  // namespace hone::tuning_db
