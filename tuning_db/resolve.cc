#include "tuning_db/resolve.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "support/median.h"
#include "support/status.h"

namespace hone::tuning_db {
namespace {

Best BestOfFinal(const Final& final) {
  const FinalEntry& winner = final.entries[static_cast<size_t>(final.winner)];
  Best best;
  best.tier = IsTuned(final) ? Tier::kTuned : Tier::kTuning;
  best.config = winner.config;
  best.nest_digest = winner.nest_digest;
  best.best_ns = WinnerNs(final);
  best.default_ns = final.entries[static_cast<size_t>(final.default_entry)].median_ns;
  best.ratio = winner.ratio_to_default;
  return best;
}

// Successes, the newest last: by when they were measured, as an import brings old ones.
std::vector<const Record*> Successes(const std::vector<Record>& records) {
  std::vector<const Record*> found;
  for (const Record& record : records) {
    if (record.outcome == Outcome::kOk && record.median_ns > 0) found.push_back(&record);
  }
  std::stable_sort(found.begin(), found.end(), [](const Record* a, const Record* b) {
    return a->wall_time_ns < b->wall_time_ns;
  });
  return found;
}

// Times compare under the same conditions only, those of the newest success: what a cold constant
// or another processor costs is no merit of a config.
std::vector<const Record*> Comparable(const std::vector<Record>& records) {
  std::vector<const Record*> found = Successes(records);
  if (found.empty()) return found;
  const auto conditions = [](const Record& record) {
    return std::tie(record.regime, record.device, record.toolchain);
  };
  const Record& newest = *found.back();
  std::erase_if(found, [&](const Record* r) { return conditions(*r) != conditions(newest); });
  return found;
}

// Those of one config, the newest last.
using RecordsOfConfig = std::vector<const Record*>;

std::map<std::string, RecordsOfConfig> ByConfig(const std::vector<const Record*>& records) {
  std::map<std::string, RecordsOfConfig> by_config;
  for (const Record* record : records) by_config[record->of_trial.config_digest].push_back(record);
  return by_config;
}

template <class OfRecord>
double MedianOf(const RecordsOfConfig& measured, const OfRecord& of_record) {
  std::vector<double> values;
  for (const Record* record : measured) values.push_back(of_record(*record));
  return Median(values);
}

// Without the cancelled ones; that which measured last is the last.
std::vector<std::vector<Record>> ByToolchain(const std::vector<Record>& records) {
  std::map<std::string, std::vector<Record>> by_toolchain;
  for (const Record& record : records) {
    if (record.outcome != Outcome::kCancelled) by_toolchain[record.toolchain].push_back(record);
  }
  std::vector<std::vector<Record>> found;
  for (auto& [toolchain, of_one] : by_toolchain) found.push_back(std::move(of_one));
  const auto newest_ns = [](const std::vector<Record>& of_one) {
    int64_t newest = 0;
    for (const Record& record : of_one) newest = std::max(newest, record.wall_time_ns);
    return newest;
  };
  std::ranges::stable_sort(found, std::less(), newest_ns);
  return found;
}

Best ProvisionalBest(std::vector<Record> records) {
  std::erase_if(records, [](const Record& r) { return r.of_trial.purpose == Purpose::kCalibrate; });
  const Record* cheapest = nullptr;
  double least_ns = 0;
  for (const auto& [digest, measured] : ByConfig(Comparable(records))) {
    const double ranked_ns = MedianOf(measured, RankedNs);
    if (cheapest != nullptr && ranked_ns >= least_ns) continue;
    cheapest = measured.back();
    least_ns = ranked_ns;
  }
  if (cheapest == nullptr) return Best();
  Best best;
  best.tier = Tier::kTuning;
  best.config = cheapest->of_trial.config;
  best.nest_digest = cheapest->of_trial.nest_digest;
  best.best_ns = cheapest->median_ns;
  best.default_ns = cheapest->anchor_ns;
  if (cheapest->anchor_ns > 0) best.ratio = cheapest->anchor_ns / cheapest->median_ns;
  return best;
}

absl::StatusOr<Best> BestCompatible(Store& store, const std::string& target, const ResolveKey& key,
                                    const IsCompatible& is_compatible) {
  Best best;
  if (is_compatible == nullptr) return best;
  HONE_ASSIGN_OR_RETURN(const std::vector<Task> tasks, store.TasksOfWorkload(key.workload_digest));
  for (const Task& task : tasks) {
    if (task.target == target || !is_compatible(task.target)) continue;
    HONE_ASSIGN_OR_RETURN(Best other, BestOf(store, task, key.signature));
    if (std::pair(other.tier, other.ratio) > std::pair(best.tier, best.ratio)) {
      best = std::move(other);
    }
  }
  if (best.tier != Tier::kNone) best.tier = Tier::kCompatible;
  return best;
}

absl::StatusOr<Best> ResolveOne(Store& store, const std::string& target, const ResolveKey& key,
                                const IsCompatible& is_compatible) {
  HONE_ASSIGN_OR_RETURN(const std::optional<Task> task,
                        store.FindTask(key.workload_digest, target));
  if (task) {
    HONE_ASSIGN_OR_RETURN(Best best, BestOf(store, *task, key.signature));
    if (best.tier != Tier::kNone) return best;
  }
  return BestCompatible(store, target, key, is_compatible);
}

}  // namespace

std::string_view Name(Tier tier) {
  switch (tier) {
    case Tier::kTuned:
      return "tuned";
    case Tier::kTuning:
      return "tuning";
    case Tier::kCompatible:
      return "compatible";
    case Tier::kNone:
      return "";
  }
  return "";
}

bool IsTuned(const Final& final) { return IsTuned(FiguresOf(final)); }

bool IsTuned(const FinalFigures& final) {
  if (final.ended_share > 0) return true;
  return final.distinct_trials >= std::min(kTrialsOfTuned, std::max<int64_t>(final.space_size, 1));
}

absl::StatusOr<Best> BestOf(Store& store, const Task& task, const std::string& signature) {
  HONE_ASSIGN_OR_RETURN(const std::optional<Final> final, store.NewestFinal(task.id, signature));
  Best best;
  if (final) {
    best = BestOfFinal(*final);
  } else {
    HONE_ASSIGN_OR_RETURN(const std::vector<Record> records,
                          store.Records({.task = task.id, .signature = signature}));
    best = ProvisionalBest(records);
  }
  best.target = task.target;
  return best;
}

absl::StatusOr<std::vector<Best>> Resolve(Store& store, const std::string& target,
                                          const std::vector<ResolveKey>& keys,
                                          const IsCompatible& is_compatible) {
  std::vector<Best> answers;
  for (const ResolveKey& key : keys) {
    HONE_ASSIGN_OR_RETURN(answers.emplace_back(), ResolveOne(store, target, key, is_compatible));
  }
  return answers;
}

namespace {

// By the config's text. Ratios to the anchor and plain times do not compare: the plain ones count
// only where nothing has an anchor.
std::map<std::string, double> CostsNs(const std::vector<Record>& records) {
  std::map<std::string, double> costs_ns;
  for (const Record& record : records) costs_ns[record.of_trial.config] = 0;
  std::vector<const Record*> found = Comparable(records);
  double anchor_ns = 0;  // the least
  for (const Record* record : found) {
    if (!(record->anchor_ns > 0)) continue;
    anchor_ns = anchor_ns > 0 ? std::min(anchor_ns, record->anchor_ns) : record->anchor_ns;
  }
  if (anchor_ns > 0) std::erase_if(found, [](const Record* r) { return !(r->anchor_ns > 0); });
  for (const auto& [digest, measured] : ByConfig(found)) {
    costs_ns[measured.back()->of_trial.config] = MedianOf(measured, [&](const Record& record) {
      return anchor_ns > 0 ? record.median_ns / record.anchor_ns * anchor_ns : record.median_ns;
    });
  }
  return costs_ns;
}

}  // namespace

absl::StatusOr<std::vector<ConfigCost>> CalibrationOf(Store& store,
                                                      const std::string& workload_digest,
                                                      const std::string& signature,
                                                      const std::string& target) {
  HONE_ASSIGN_OR_RETURN(const std::optional<Task> task, store.FindTask(workload_digest, target));
  if (!task) return std::vector<ConfigCost>();
  HONE_ASSIGN_OR_RETURN(
      const std::vector<Record> records,
      store.Records({.task = task->id, .signature = signature, .purpose = Purpose::kCalibrate}));
  std::vector<ConfigCost> found;
  for (const std::vector<Record>& of_one : ByToolchain(records)) {
    for (const auto& [config, cost_ns] : CostsNs(of_one)) {
      found.push_back({config, cost_ns, of_one.front().toolchain});
    }
  }
  return found;
}

}  // namespace hone::tuning_db
