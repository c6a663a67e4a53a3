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

// What is released in one turn of the executor goes to the store in one batch, and is sent again at
// every tick until it is committed. Used only on the executor of `mailbox`, which must be closed
// before this object is destroyed. The store outlives it.
class Releases {
 public:
  // `on_answered` is called when the store has answered a batch, after what `Add` was given.
  Releases(tuning_db::Store* store, tuning_db::Ownership ownership,
           std::shared_ptr<Mailbox> mailbox, std::function<void()> on_answered)
      : store_(store),
        ownership_(std::move(ownership)),
        mailbox_(std::move(mailbox)),
        on_answered_(std::move(on_answered)) {}

  // Runs `then` once the release is committed, or there is nothing to release any more because the
  // trial has a newer lease, is settled, or belongs to another daemon. The trial must not be leased
  // again before that: the new lease could overtake the release, and the strike would be lost. A
  // release that is already on its way is not sent twice.
  void Add(int64_t trial, int64_t fence, bool is_strike, std::function<void()> then);
  // Whether the release of this fence is not committed yet.
  bool Has(int64_t fence) const { return releasing_.count(fence) > 0; }
  // Sends the store all releases that were not sent yet, or that it failed to commit.
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
