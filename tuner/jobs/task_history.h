// Keeps at hand what the tuning database has of one task and layout signature.
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

// Trials of the search are in the order of their ids, in which they were proposed. Cancelled trials
// do not count: nothing was measured, so nothing is charged to the budget. Nor do trials whose
// records were retracted. Not thread-safe.
class TaskHistory {
 public:
  struct Entry {
    tuning_db::Trial trial;
    // The trial's config in today's space; trial.config is the text that was stored.
    schedule::Config config;
    // Without its samples; nothing while the trial is open.
    std::optional<tuning_db::Record> record;
    double ranked_ns = 0;  // of the record (tuning_db::RankedNs)
  };

  TaskHistory(int64_t task, std::string signature)
      : task_(task), signature_(std::move(signature)) {}

  // From here on, times are compared in this regime (regime.h). A trial that was timed in another
  // one counts as spent and its config as known, but it is not ranked: a search sees it as open.
  void CompareIn(const std::string& regime) {
    regime_ = regime;
    best_so_far_ns_.clear();
  }
  const std::string& regime() const { return regime_; }

  // From here on, stored configs are read as configs of this space, with legacy values for knobs
  // that are newer than they are. A config that is not in the space is kept as it was stored.
  // `space` outlives this object.
  void ReadIn(const schedule::Space* space) { space_ = space; }
  // Reads the text of a config; kInvalidArgument where it is not one.
  absl::StatusOr<schedule::Config> Read(const std::string& config) const;

  // Loads all settled trials and the newest final. Open trials are added by Proposed.
  absl::Status Load(tuning_db::Store& store);
  // Whether the store has trials that this object does not know, since somebody imported them.
  absl::StatusOr<bool> IsBehind(tuning_db::Store& store) const;
  // To be called after a final, with the regime that the final was asked for in; the task may be
  // compared in another one by now.
  absl::Status ReloadFinal(tuning_db::Store& store, const std::string& regime);
  void Proposed(const tuning_db::Trial& trial);
  // Records how a trial ended that Proposed has added; a second call for it changes nothing.
  void Settled(const tuning_db::Record& record);

  int64_t count() const { return static_cast<int64_t>(search_.size()); }
  int64_t settled() const { return settled_; }
  int64_t open() const { return count() - settled_; }
  // Whether the first `n` trials are settled. Takes time in proportion to the number of trials
  // after them.
  bool PrefixIsSettled(int64_t n) const;
  // What a search may base a batch on that follows the first `mark` trials.
  SearchState StateAt(int64_t mark) const;
  // The ranked time of each settled trial, in the order of proposal; 0: it failed. Trials of
  // another regime are left out.
  std::vector<double> RankedTimes() const;
  // The ranked time of the first trial that succeeded, which is the default's if that did; 0: all
  // failed. Nothing: there is no trial yet, or one before the first success is not settled.
  std::optional<double> FirstTime() const;
  // Settled successes, best first. Those of another regime follow after all of this one.
  std::vector<const Entry*> Ranked() const;
  // The best median in this regime; 0: there is none.
  double BestNs() const;
  // What BestNs would be without the newest `n` trials.
  double BestNsBefore(int64_t n) const;

  const std::map<int64_t, Entry>& search() const { return search_; }
  // Settled trials with purpose confirm: the round of the next one.
  int64_t confirm_rounds() const { return confirm_rounds_; }
  void ConfirmSettled() { ++confirm_rounds_; }
  // How many trials of this config were cancelled or, when loaded, had a retracted record: that is
  // the round in which it may be proposed anew.
  int64_t CancelledRounds(const std::string& config_digest) const;
  const std::optional<tuning_db::Final>& final() const { return final_; }
  // Whether there is a final in this regime, nothing was measured since, and its finalists were
  // compared with this default. It is not current where newer code has another default.
  bool FinalIsCurrent(const schedule::Config& default_config) const;

 private:
  void Add(const tuning_db::Trial& trial);
  // Whether a time in this regime may be compared with others of this task.
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
  std::map<std::string, int64_t> cancelled_;  // CancelledRounds by config digest
  std::optional<tuning_db::Final> final_;
  std::string regime_;
  std::string final_regime_;  // of final_; empty: unknown
  // The n-th entry is the best median of the first n trials. Empty: it has to be computed anew. It
  // is kept because searches ask for it whenever a task may take a batch.
  mutable std::vector<double> best_so_far_ns_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TASK_HISTORY_H_
