// Leases that have ended without a result, on their way back to the store.
#ifndef HONE_TUNER_FARM_RELEASES_H_
#define HONE_TUNER_FARM_RELEASES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tuner/mailbox.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// What one turn of the executor releases goes to the store in one batch, and is asked for at every
// tick until it is committed. Touched on one executor only, to which `mailbox` leads; it must be
// closed before this is destroyed. The store outlives it.
class Releases {
 public:
  // `on_answered` is called when the store has answered a batch, after what `Add` was given.
  Releases(tuning_db::Store* store, tuning_db::Ownership ownership,
           std::shared_ptr<Mailbox> mailbox, std::function<void()> on_answered)
      : store_(store),
        ownership_(std::move(ownership)),
        mailbox_(std::move(mailbox)),
        on_answered_(std::move(on_answered)) {}

  // `then` is run once that is committed, or there is nothing to release any more: the trial has a
  // newer lease, is settled, or is another daemon's. Until then a new lease could overtake it, and
  // its strike would be lost. What is on its way already is not asked for twice.
  void Add(int64_t trial, int64_t fence, bool is_strike, std::function<void()> then);
  // Not committed yet.
  bool Has(int64_t fence) const { return releasing_.count(fence) > 0; }
  // Asks the store for all that it was not asked for, or has failed to commit.
  void Ask();

 private:
  struct Releasing {
    tuning_db::ReleaseRequest request;
    std::vector<std::function<void()>> then;
    bool is_asked = false;
  };

  // False: the store took none of them.
  bool AskFor(const std::vector<int64_t>& fences);
  void OnAnswers(const std::vector<int64_t>& fences, const std::vector<absl::Status>& answers);

  tuning_db::Store* const store_;
  const tuning_db::Ownership ownership_;
  const std::shared_ptr<Mailbox> mailbox_;
  const std::function<void()> on_answered_;
  std::map<int64_t, Releasing> releasing_;  // by fence
  bool will_ask_ = false;                   // at the end of this turn
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_RELEASES_H_
