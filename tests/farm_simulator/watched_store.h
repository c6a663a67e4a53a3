// The store that outlives daemons, as one life of the daemon at a time sees it:
// commits take time, fail now and then, and what waits for one is lost with the
// daemon. What was committed is written into the history.
#ifndef HONE_TESTS_FARM_SIMULATOR_WATCHED_STORE_H_
#define HONE_TESTS_FARM_SIMULATOR_WATCHED_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/farm_simulator/event_queue.h"
#include "tests/farm_simulator/history.h"
#include "tuning_db/memory/memory_store.h"

namespace hone::sim {

// What befalls writes.
struct StoreWeather {
  bool is_busy = false;   // no batch is taken
  bool is_full = false;   // every write fails
  double fail_share = 0;  // so does this share of them
  double kill_share = 0;  // the daemon is killed at this share of them: before
                          // or after the commit
  // Batches are committed before their call returns. Otherwise some
  // milliseconds later, all that wait at once.
  bool commits_at_once = false;
};

class WatchedStore : public tuning_db::MemoryStore {
 public:
  using Life = sim::Life;  // the base has another
  using Trial = tuning_db::Trial;
  using SettleResult = tuning_db::SettleResult;

  WatchedStore(const Clock &clock, EventQueue *queue, History *history)
      : MemoryStore(clock), queue_(queue), history_(history) {}

  // From here on it is this daemon's, which is dead when its life is over or
  // `kill` was called.
  void Serve(std::shared_ptr<Life> life, std::function<void()> kill);

  absl::Status SetJobState(const tuning_db::Ownership &ownership, int64_t id,
                           tuning_db::JobState state, const std::string &message) override;
  absl::StatusOr<std::vector<Trial>> Propose(const tuning_db::Ownership &ownership,
                                             const std::vector<Trial> &trials) override;
  absl::Status LeaseMany(std::vector<tuning_db::LeaseRequest> requests,
                         std::function<void(LeaseAnswers)> done) override;
  absl::Status ReleaseMany(std::vector<tuning_db::ReleaseRequest> requests,
                           std::function<void(ReleaseAnswers)> done) override;
  absl::Status SettleMany(std::vector<tuning_db::Settlement> settlements,
                          std::function<void(SettleAnswers)> done) override;
  absl::Status GetMany(std::vector<int64_t> trials, std::function<void(GetAnswers)> done) override;

  StoreWeather weather;

 protected:
  // What is carried out: bugs that tests plant override it.
  virtual absl::StatusOr<Trial> CommitLease(const tuning_db::LeaseRequest &request);
  virtual absl::StatusOr<SettleResult> CommitSettle(const tuning_db::Settlement &settlement);
  virtual absl::StatusOr<Trial> Get(int64_t trial);

 private:
  // Before a write: an error if it is not to be carried out.
  absl::Status Enter(const std::string &call);
  // After its commit.
  void Leave();
  // Carries the requests out, one by one, and calls back.
  template <typename Request, typename Answer>
  absl::Status Commit(const std::string &call, std::vector<Request> requests,
                      std::function<absl::StatusOr<Answer>(const Request &)> commit_one,
                      std::function<void(std::vector<absl::StatusOr<Answer>>)> done);
  void Begin(std::function<void()> work);

  EventQueue *const queue_;
  History *const history_;
  std::shared_ptr<Life> life_ = std::make_shared<Life>();
  std::function<void()> kill_ = [] {};
  std::vector<std::function<void()>> waiting_;  // for the commit that is under way
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_WATCHED_STORE_H_
