// What the tuning database holds of one task and layout signature, kept at hand.
#ifndef HONE_TUNER_JOBS_TASK_HISTORY_H_
#define HONE_TUNER_JOBS_TASK_HISTORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/schedule/space.h"
#include "tuner/search.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// Search trials are numbered by their ids: the order in which they were proposed. Cancelled ones do
// not count: nothing was measured, and nothing is charged. Not thread-safe.
class TaskHistory {
 public:
  struct Entry {
    tuning_db::Trial trial;
    schedule::Config config;                  // as it reads today; trial.config is what was stored
    std::optional<tuning_db::Record> record;  // without its samples; none: open
    double ranked_ns = 0;                     // of the record (tuning_db::RankedNs)
  };

  TaskHistory(int64_t task, std::string signature)
      : task_(task), signature_(std::move(signature)) {}

  // Times are compared in this regime from here on (regime.h). A time of another
  // one is spent and its config known, but it ranks nothing: a search sees it as open.
  void CompareIn(const std::string& regime) {
    regime_ = regime;
    best_so_far_ns_.clear();
  }
  const std::string& regime() const { return regime_; }

  // Stored configs are read as configs of this space from here on: knobs that came since have their
  // legacy values. It outlives this. One that is none of the space is kept as it was stored.
  void ReadIn(const schedule::Space* space) { space_ = space; }
  // The config of this text; kInvalidArgument where it is none.
  absl::StatusOr<schedule::Config> Read(const std::string& config) const;

  // Everything settled so far, and the newest final. Open trials are added by Proposed.
  absl::Status Load(tuning_db::Store& store);
  // Whether the store has trials that are not here: somebody imported them.
  absl::StatusOr<bool> IsBehind(tuning_db::Store& store) const;
  // To be called after a final, with the regime that it was asked for in: the task may be compared
  // in another one by now.
  absl::Status ReloadFinal(tuning_db::Store& store, const std::string& regime);
  void Proposed(const tuning_db::Trial& trial);
  // The trial was proposed here; a second time changes nothing.
  void Settled(const tuning_db::Record& record);

  int64_t count() const { return static_cast<int64_t>(search_.size()); }
  int64_t settled() const { return settled_; }
  int64_t open() const { return count() - settled_; }
  // Whether the first `n` trials are settled. It costs as much as there are trials behind them.
  bool PrefixIsSettled(int64_t n) const;
  // What a batch after the first `mark` trials may look at.
  SearchState StateAt(int64_t mark) const;
  // What each settled trial counts as, in the order of proposal; 0: it failed. Those of another
  // regime are left out.
  std::vector<double> RankedTimes() const;
  // What the first trial that succeeded counts as, the default's where that did; 0: none has yet.
  // Nothing: a trial before it, or the first of all, is not settled.
  std::optional<double> FirstTime() const;
  // Settled successes, best first. Those of another regime follow behind all of this one.
  std::vector<const Entry*> Ranked() const;
  // Median of the best in this regime; 0: none.
  double BestNs() const;
  // What BestNs would be without the newest `n` trials.
  double BestNsBefore(int64_t n) const;

  const std::map<int64_t, Entry>& search() const { return search_; }
  // Settled trials with purpose confirm: the round of the next one.
  int64_t confirm_rounds() const { return confirm_rounds_; }
  void ConfirmSettled() { ++confirm_rounds_; }
  // How often this config was cancelled: the round under which it may be proposed anew.
  int64_t CancelledRounds(const std::string& config_digest) const;
  const std::optional<tuning_db::Final>& final() const { return final_; }
  // There is a final in this regime, nothing was measured since, and this is the default that its
  // finalists were compared with: a better default of newer code has yet to be.
  bool FinalIsCurrent(const schedule::Config& default_config) const;

 private:
  void Add(const tuning_db::Trial& trial);
  // Whether its time compares.
  bool IsOfRegime(const std::string& regime) const {
    return regime.empty() || regime_.empty() || regime == regime_;
  }
  bool IsRanked(const Entry& entry) const;

  int64_t task_;
  std::string signature_;
  const schedule::Space* space_ = nullptr;
  std::map<int64_t, Entry> search_;  // by trial id
  int64_t settled_ = 0;
  int64_t confirm_rounds_ = 0;
  std::map<std::string, int64_t> cancelled_;  // times, by config digest
  std::optional<tuning_db::Final> final_;
  std::string regime_;
  std::string final_regime_;  // of final_; empty: unknown
  // Its n-th entry is the best median of the first n trials; it is empty where it is to be found
  // anew. A search asks for it whenever some task may have a batch.
  mutable std::vector<double> best_so_far_ns_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TASK_HISTORY_H_
