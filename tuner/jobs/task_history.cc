#include "tuner/jobs/task_history.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "support/status.h"

namespace hone::tuner {

using tuning_db::Outcome;
using tuning_db::Purpose;

namespace {

// What the task's default takes on each device, at least: times of several devices compare as
// multiples of it.
class DeviceAnchors {
 public:
  void Add(const tuning_db::Record& record) {
    double& anchor_ns = least_ns_[record.device];
    if (!(record.anchor_ns > 0)) return;
    anchor_ns = anchor_ns > 0 ? std::min(anchor_ns, record.anchor_ns) : record.anchor_ns;
  }
  // Nanoseconds of one device, or of several where one has no anchor.
  double RelativeTime(const TaskHistory::Entry& entry) const {
    const bool all_have = std::all_of(least_ns_.begin(), least_ns_.end(),
                                      [](const auto& item) { return item.second > 0; });
    const auto anchor = least_ns_.find(entry.record->device);
    if (least_ns_.size() < 2 || !all_have || anchor == least_ns_.end()) return entry.ranked_ns;
    return entry.ranked_ns / anchor->second;
  }

 private:
  std::map<std::string, double> least_ns_;
};

}  // namespace

absl::Status TaskHistory::Load(tuning_db::Store& store) {
  tuning_db::RecordFilter filter;
  filter.task = task_;
  filter.signature = signature_;
  // A retracted record counts for nothing, but its trial has its key: a config that is tried again
  // goes into the next round, as after one that was cancelled.
  filter.with_retracted = true;
  HONE_ASSIGN_OR_RETURN(const std::vector<tuning_db::Record> records, store.Records(filter));
  for (const tuning_db::Record& record : records) {
    const bool counts = record.retracted.empty();
    if (record.of_trial.purpose == Purpose::kConfirm) {
      ++confirm_rounds_;
      if (counts && record.outcome == Outcome::kOk) final_regime_ = record.regime;
    }
    if (!tuning_db::IsProposed(record.of_trial.purpose)) continue;
    if (!counts) {
      ++cancelled_[record.of_trial.config_digest];
      continue;
    }
    Add(record.of_trial);
    Settled(record);
  }
  HONE_ASSIGN_OR_RETURN(final_, store.NewestFinal(task_, signature_));
  return absl::OkStatus();
}

absl::StatusOr<bool> TaskHistory::IsBehind(tuning_db::Store& store) const {
  int64_t here = count();
  for (const auto& [digest, times] : cancelled_) here += times;
  int64_t stored = 0;
  for (const Purpose purpose : {Purpose::kSearch, Purpose::kCalibrate}) {
    HONE_ASSIGN_OR_RETURN(const int64_t trials, store.CountTrials(task_, signature_, purpose));
    stored += trials;
  }
  return stored > here;
}

absl::Status TaskHistory::ReloadFinal(tuning_db::Store& store, const std::string& regime) {
  HONE_ASSIGN_OR_RETURN(final_, store.NewestFinal(task_, signature_));
  final_regime_ = regime;  // whatever the worker made of it
  return absl::OkStatus();
}

bool TaskHistory::FinalIsCurrent(const schedule::Config& default_config) const {
  if (!final_ || final_->distinct_trials < settled_ || !IsOfRegime(final_regime_)) return false;
  const auto compared = Read(final_->entries[static_cast<size_t>(final_->default_entry)].config);
  return compared.ok() && compared->ToText() == default_config.ToText();
}

bool TaskHistory::IsRanked(const Entry& entry) const {
  return entry.record && entry.record->outcome == Outcome::kOk && IsOfRegime(entry.record->regime);
}

void TaskHistory::Proposed(const tuning_db::Trial& trial) { Add(trial); }

absl::StatusOr<schedule::Config> TaskHistory::Read(const std::string& config) const {
  HONE_ASSIGN_OR_RETURN(schedule::Config stored, schedule::Config::Parse(config));
  if (space_ == nullptr) return stored;
  return space_->Migrate(stored).value_or(stored);
}

void TaskHistory::Add(const tuning_db::Trial& trial) {
  const auto [it, is_new] = search_.try_emplace(trial.id);
  if (!is_new) return;
  best_so_far_ns_.clear();
  it->second.trial = trial;
  auto config = Read(trial.config);
  if (config.ok()) {
    it->second.config = *std::move(config);
  } else {
    spdlog::warn("trial {}: {}", trial.id, config.status().ToString());
  }
}

void TaskHistory::Settled(const tuning_db::Record& record) {
  const auto it = search_.find(record.trial);
  if (it == search_.end() || it->second.record) return;
  best_so_far_ns_.clear();
  if (record.outcome == Outcome::kCancelled) {
    ++cancelled_[it->second.trial.config_digest];
    search_.erase(it);
    return;
  }
  it->second.record = record;
  it->second.ranked_ns = tuning_db::RankedNs(record);
  it->second.record->samples_ns = {};
  it->second.trial.state = tuning_db::TrialState::kSettled;
  ++settled_;
}

bool TaskHistory::PrefixIsSettled(int64_t n) const {
  // Few are open, and they are among the newest: from there on it is the shorter way.
  int64_t open_in_prefix = open();
  int64_t behind = count() - n;
  if (open_in_prefix > std::max<int64_t>(0, behind)) return false;
  for (auto it = search_.rbegin(); open_in_prefix > 0 && behind > 0; ++it, --behind) {
    if (!it->second.record) --open_in_prefix;
  }
  return open_in_prefix == 0;
}

SearchState TaskHistory::StateAt(int64_t mark) const {
  SearchState state;
  std::vector<const Entry*> settled;
  DeviceAnchors anchors;
  for (const auto& [id, entry] : search_) {
    const bool is_settled = mark-- > 0 && entry.record;
    if (is_settled && (entry.record->outcome != Outcome::kOk || IsRanked(entry))) {
      settled.push_back(&entry);
      if (IsRanked(entry)) anchors.Add(*entry.record);
    } else {
      state.open.push_back(entry.config);
    }
  }
  for (const Entry* entry : settled) {
    const double time = IsRanked(*entry) ? anchors.RelativeTime(*entry) : 0;
    state.settled.push_back(
        {entry->config, entry->trial.nest_digest, entry->record->outcome, time});
  }
  return state;
}

std::vector<double> TaskHistory::RankedTimes() const {
  std::vector<double> times;
  for (const auto& [id, entry] : search_) {
    if (!entry.record) continue;
    if (IsRanked(entry) || entry.record->outcome != Outcome::kOk) times.push_back(entry.ranked_ns);
  }
  return times;
}

std::optional<double> TaskHistory::FirstTime() const {
  for (const auto& [id, entry] : search_) {
    if (!entry.record) return std::nullopt;
    if (entry.record->outcome == Outcome::kOk) return entry.ranked_ns;
  }
  if (search_.empty()) return std::nullopt;
  return 0;
}

std::vector<const TaskHistory::Entry*> TaskHistory::Ranked() const {
  std::vector<const Entry*> ranked;
  DeviceAnchors anchors;
  for (const auto& [id, entry] : search_) {
    if (!entry.record || entry.record->outcome != Outcome::kOk) continue;
    ranked.push_back(&entry);
    if (IsRanked(entry)) anchors.Add(*entry.record);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Entry* a, const Entry* b) {
    if (IsRanked(*a) != IsRanked(*b)) return IsRanked(*a);
    return anchors.RelativeTime(*a) < anchors.RelativeTime(*b);
  });
  return ranked;
}

double TaskHistory::BestNs() const { return BestNsBefore(0); }

double TaskHistory::BestNsBefore(int64_t n) const {
  if (best_so_far_ns_.empty()) {
    best_so_far_ns_.reserve(search_.size() + 1);
    best_so_far_ns_.push_back(0);
    for (const auto& [id, entry] : search_) {
      const double best_ns = best_so_far_ns_.back();
      const bool is_better = IsRanked(entry) && (best_ns == 0 || entry.record->median_ns < best_ns);
      best_so_far_ns_.push_back(is_better ? entry.record->median_ns : best_ns);
    }
  }
  return best_so_far_ns_[static_cast<size_t>(std::max<int64_t>(0, count() - n))];
}

int64_t TaskHistory::CancelledRounds(const std::string& config_digest) const {
  const auto it = cancelled_.find(config_digest);
  return it == cancelled_.end() ? 0 : it->second;
}

}  // namespace hone::tuner
