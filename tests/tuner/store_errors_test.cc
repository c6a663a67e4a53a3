// What the tuning loop does where its store fails: which errors pass, and which end it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "support/random.h"
#include "tests/tuner/world.h"
#include "tuning_db/memory/memory_store.h"

namespace hone::tuner {
namespace {

using tuning_db::JobState;
using tuning_db::Purpose;

// A store that answers as it is told to, in every call with which a loop goes on.
class FailingStore : public tuning_db::MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  absl::StatusOr<tuning_db::Job> GetJob(int64_t id) override {
    if (const absl::Status status = Next(Kind::kRead); !status.ok()) return status;
    return MemoryStore::GetJob(id);
  }
  absl::StatusOr<tuning_db::JobPage> ListJobs(const tuning_db::JobFilter& filter,
                                              tuning_db::Order order, const std::string& cursor,
                                              int64_t limit) override {
    if (const absl::Status status = Next(Kind::kRead); !status.ok()) return status;
    return MemoryStore::ListJobs(filter, order, cursor, limit);
  }
  absl::Status SetJobState(const tuning_db::Ownership& ownership, int64_t id, JobState state,
                           const std::string& message) override {
    if (const absl::Status status = Next(Kind::kJobWrite); !status.ok()) return status;
    return MemoryStore::SetJobState(ownership, id, state, message);
  }
  absl::StatusOr<int64_t> AppendEvent(const tuning_db::Ownership& ownership, int64_t job,
                                      const std::string& kind,
                                      const std::string& payload) override {
    if (const absl::Status status = Next(Kind::kJobWrite); !status.ok()) return status;
    return MemoryStore::AppendEvent(ownership, job, kind, payload);
  }
  absl::StatusOr<tuning_db::Task> GetTask(int64_t id) override {
    if (const absl::Status status = Next(Kind::kRead); !status.ok()) return status;
    return MemoryStore::GetTask(id);
  }
  absl::StatusOr<std::vector<tuning_db::Trial>> Propose(
      const tuning_db::Ownership& ownership, const std::vector<tuning_db::Trial>& trials) override {
    if (const absl::Status status = Next(Kind::kJobWrite); !status.ok()) return status;
    return MemoryStore::Propose(ownership, trials);
  }
  absl::StatusOr<std::vector<tuning_db::Trial>> OpenTrials(int64_t job) override {
    if (const absl::Status status = Next(Kind::kRead); !status.ok()) return status;
    return MemoryStore::OpenTrials(job);
  }
  absl::Status LeaseMany(std::vector<tuning_db::LeaseRequest> requests,
                         std::function<void(LeaseAnswers)> done) override {
    if (const absl::Status status = Next(Kind::kWrite); !status.ok()) return status;
    return MemoryStore::LeaseMany(std::move(requests), std::move(done));
  }
  absl::Status ReleaseMany(std::vector<tuning_db::ReleaseRequest> requests,
                           std::function<void(ReleaseAnswers)> done) override {
    if (const absl::Status status = Next(Kind::kWrite); !status.ok()) return status;
    return MemoryStore::ReleaseMany(std::move(requests), std::move(done));
  }
  absl::Status SettleMany(std::vector<tuning_db::Settlement> settlements,
                          std::function<void(SettleAnswers)> done) override {
    if (const absl::Status status = Next(Kind::kWrite); !status.ok()) return status;
    return MemoryStore::SettleMany(std::move(settlements), std::move(done));
  }
  absl::StatusOr<std::optional<tuning_db::Final>> NewestFinal(
      int64_t task, const std::string& signature) override {
    if (const absl::Status status = Next(Kind::kRead); !status.ok()) return status;
    return MemoryStore::NewestFinal(task, signature);
  }
  absl::StatusOr<std::vector<int64_t>> RenewJobs(const tuning_db::Ownership& ownership,
                                                 int64_t lease_ns) override {
    if (!renews.ok()) return renews;
    return MemoryStore::RenewJobs(ownership, lease_ns);
  }

  enum class Kind { kRead, kWrite, kJobWrite };  // the last may be refused for its job
  // The answer to each call; nullptr: the store works.
  void Answer(std::function<absl::Status(Kind kind)> answer) { answer_ = std::move(answer); }
  absl::Status renews;

 private:
  absl::Status Next(Kind kind) const {
    return answer_ == nullptr ? absl::OkStatus() : answer_(kind);
  }

  std::function<absl::Status(Kind kind)> answer_;
};

struct Failing {
  explicit Failing(const std::string& owner = "") : world(Shared(), owner) {
    world.AddWorker("w1");
  }
  static std::shared_ptr<SharedStore> Shared() {
    auto shared = std::make_shared<SharedStore>();
    shared->store = std::make_unique<FailingStore>(shared->clock);
    return shared;
  }
  FailingStore& store() { return dynamic_cast<FailingStore&>(*world.store); }

  World world;
};

JobWish TheJob() { return {.workloads = {"conv", "dense default_fails"}, .trials = 21}; }

std::string UndisturbedEnd() {
  World world;
  world.AddWorker("w1");
  world.Submit(TheJob());
  world.Run();
  return world.EndState();
}

TEST(StoreErrors, AJobComesToTheSameEndWhateverPasses) {
  const std::string expected = UndisturbedEnd();
  for (const int every : {2, 3, 5, 7, 13}) {
    for (const bool is_full : {false, true}) {
      SCOPED_TRACE(every + (is_full ? 100 : 0));
      Failing failing;
      const int64_t job = failing.world.Submit(TheJob());
      Random random(static_cast<uint64_t>(every));
      failing.store().Answer([&](FailingStore::Kind) -> absl::Status {
        if (random.Below(static_cast<uint64_t>(every)) != 0) return absl::OkStatus();
        if (is_full) return absl::ResourceExhaustedError("too many changes wait");
        return absl::UnavailableError("the server is away");
      });
      failing.world.Run();
      failing.world.Wait(300 * kSecondNs);
      failing.store().Answer(nullptr);
      EXPECT_TRUE(failing.world.fatal.empty());
      EXPECT_EQ(failing.world.GetJob(job).state, JobState::kFailed) << "one default is wrong";
      EXPECT_TRUE(failing.world.store->OpenTrials(0).value().empty());
      EXPECT_TRUE(failing.world.EndState() == expected);
    }
  }
}

// A farm that settles more than the database can take is slow, and no fault.
TEST(StoreErrors, AStoreThatIsFullForLongIsWaitedFor) {
  Failing failing;
  const int64_t job = failing.world.Submit(TheJob());
  failing.world.Run(60);
  failing.store().Answer(
      [](FailingStore::Kind) { return absl::ResourceExhaustedError("too many changes wait"); });
  failing.world.Wait(600 * kSecondNs);
  failing.store().Answer(nullptr);
  EXPECT_TRUE(failing.world.fatal.empty());
  failing.world.Wait(60 * kSecondNs);
  EXPECT_EQ(failing.world.GetJob(job).state, JobState::kFailed);
  EXPECT_TRUE(failing.world.EndState() == UndisturbedEnd());
}

// What a refusal leaves to be asked for again is not asked for anew at every tick.
TEST(StoreErrors, WhatIsCancelledLateIsNotPiledUp) {
  Failing failing;
  const int64_t job =
      failing.world.Submit({.trials = 400, .deadline_ns = 5 * kSecondNs, .search = "fake"});
  failing.world.Run(60);
  ASSERT_GE(failing.store().OpenTrials(0).value().size(), 8u);
  int64_t writes = 0;
  failing.store().Answer([&](FailingStore::Kind kind) {
    if (kind == FailingStore::Kind::kRead) return absl::OkStatus();
    ++writes;
    return absl::ResourceExhaustedError("the disk is full");
  });
  failing.world.clock.now_ns += 6 * kSecondNs;
  failing.world.Wait(2 * kSecondNs);
  const int64_t first = std::exchange(writes, 0);
  failing.world.Wait(20 * kSecondNs);
  EXPECT_LE(writes, 12 * first) << "as many at the end as in the beginning";
  failing.store().Answer(nullptr);
  failing.world.Wait(60 * kSecondNs);
  EXPECT_EQ(failing.world.GetJob(job).state, JobState::kDone);
  EXPECT_TRUE(failing.world.store->OpenTrials(0).value().empty());
}

TEST(StoreErrors, AStoreThatStaysAwayEndsTheLoopOnce) {
  Failing failing;
  failing.world.Submit(TheJob());
  failing.world.Run(60);
  const absl::Status away = absl::UnavailableError("the server is away");
  failing.store().renews = away;
  failing.store().Answer([&](FailingStore::Kind) { return away; });
  failing.world.Wait(59 * kSecondNs);
  EXPECT_TRUE(failing.world.fatal.empty()) << "a server that is started anew is waited for";
  failing.world.Wait(10 * kSecondNs);
  EXPECT_EQ(failing.world.fatal.size(), 1u);
}

TEST(StoreErrors, WhatDoesNotPassEndsTheLoopAtOnce) {
  Failing failing;
  failing.world.Submit(TheJob());
  failing.world.Run(60);
  failing.store().Answer([](FailingStore::Kind) { return absl::InternalError("disk I/O error"); });
  failing.world.Run();
  EXPECT_EQ(failing.world.fatal.size(), 1u);
}

// The same code says that a job has ended and that the database is of a newer version by now.
TEST(StoreErrors, ARefusalIsLookedIntoBeforeItIsTakenForAnEndedJob) {
  const absl::Status refused = absl::FailedPreconditionError("no");
  for (const bool is_migrated : {false, true}) {
    Failing failing("daemon");
    const int64_t job = failing.world.Submit(TheJob());
    failing.world.Run(60);
    if (is_migrated) failing.store().renews = refused;
    bool is_refused = false;  // the first is
    failing.store().Answer([&](FailingStore::Kind kind) {
      const bool is_first =
          kind == FailingStore::Kind::kJobWrite && !std::exchange(is_refused, true);
      return is_first ? refused : absl::OkStatus();
    });
    failing.world.Wait(kSecondNs);
    EXPECT_EQ(failing.world.fatal.size(), is_migrated ? 1u : 0u);
    if (is_migrated) continue;
    failing.world.Wait(60 * kSecondNs);
    EXPECT_EQ(failing.world.GetJob(job).state, JobState::kFailed) << "it went on";
  }
}

}  // namespace
}  // namespace hone::tuner
