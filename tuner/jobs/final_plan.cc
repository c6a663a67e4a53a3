#include "tuner/jobs/final_plan.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "support/median.h"
#include "support/paired_ratio.h"
#include "support/status.h"
#include "tuner/measure_record.h"

namespace hone::tuner {

using tuning_db::FinalEntry;

namespace {

// A trial that took so many times as long as the best is beaten by more than noise: of the 52 tasks
// of SqueezeNet and ResNet-50 no winner of a final had taken more than 1.144 times the best's least
// sample, and but for two none more than 1.04 times.
constexpr double kClearlyBeaten = 1.15;

bool IsClearlyBeaten(const TaskHistory::Entry& entry, const TaskHistory::Entry& best) {
  return entry.record->device == best.record->device &&
         entry.record->regime == best.record->regime &&
         entry.ranked_ns > kClearlyBeaten * best.ranked_ns;
}

}  // namespace

absl::StatusOr<std::vector<PlannedTrial>> ChooseFinalists(const TaskContext& task,
                                                          const TaskHistory& history, int top) {
  std::vector<PlannedTrial> finalists;
  HONE_ASSIGN_OR_RETURN(const LoweredCandidate standard, task.Lower(task.default_config()));
  finalists.push_back({task.default_config(), standard.nest_digest, ""});
  std::set<std::string> nests = {standard.nest_digest};
  // Whether the config is a finalist, now or before.
  const auto add = [&](const schedule::Config& config, const std::string& nest_digest) {
    if (nests.count(nest_digest) > 0) return true;
    const absl::StatusOr<LoweredCandidate> lowered = task.Lower(config);
    if (!lowered.ok() || lowered->nest_digest != nest_digest) return false;
    nests.insert(nest_digest);
    finalists.push_back({config, nest_digest, ""});
    return true;
  };
  if (history.final()) {
    const tuning_db::FinalEntry& winner =
        history.final()->entries[static_cast<size_t>(history.final()->winner)];
    const auto config = history.Read(winner.config);
    if (config.ok()) add(*config, winner.nest_digest);
  }
  int left = top;
  const TaskHistory::Entry* best = nullptr;  // of those that take part
  for (const TaskHistory::Entry* entry : history.Ranked()) {
    if (left == 0) break;
    if (best != nullptr && IsClearlyBeaten(*entry, *best)) continue;
    if (!add(entry->config, entry->trial.nest_digest)) continue;
    if (best == nullptr) best = entry;
    --left;
  }
  return finalists;
}

namespace {

// The least number of rounds that a final is judged by.
constexpr int kFewestRounds = 3;

using Result = hone::v1::CandidateResult;

bool HasRound(const Result& result, int round) {
  return round < result.samples_ns_size() && result.samples_ns(round) > 0;  // no NaN
}

int CountRounds(const Result& result, int rounds) {
  int count = 0;
  for (int round = 0; round < rounds; ++round) count += HasRound(result, round);
  return count;
}

// Why the finalist is left out; empty: it takes part.
std::string WhyOut(const Result& result, int rounds) {
  if (result.outcome() == hone::v1::MEASURE_OUTCOME_NO_REFERENCE) {
    return "its reference does not run: " + result.message();
  }
  if (result.outcome() != hone::v1::MEASURE_OUTCOME_OK) {
    return fmt::format("{}: {}", tuning_db::Name(ToOutcome(result.outcome())), result.message());
  }
  const int has = CountRounds(result, rounds);
  if (has >= std::min(kFewestRounds, rounds)) return "";
  return fmt::format("it was timed in {} of {} rounds: {}", has, rounds, result.message());
}

// Those that every one of these has.
std::vector<int> CommonRounds(const std::vector<const Result*>& results, int rounds) {
  std::vector<int> common;
  for (int round = 0; round < rounds; ++round) {
    const bool have_all = std::all_of(results.begin(), results.end(), [&](const Result* result) {
      return HasRound(*result, round);
    });
    if (have_all) common.push_back(round);
  }
  return common;
}

// `final.entries` with the times of these rounds, and the winner among them.
void Compare(const std::vector<const Result*>& results, const std::vector<int>& rounds,
             tuning_db::Final& final) {
  for (size_t i = 0; i < final.entries.size(); ++i) {
    FinalEntry& entry = final.entries[i];
    for (const int round : rounds) entry.round_ns.push_back(results[i]->samples_ns(round));
    entry.median_ns = Median(entry.round_ns);
    entry.artifact_digest = results[i]->artifact_digest();
    entry.ratio_to_default = RatioOf(final.entries[0].round_ns, entry.round_ns).median;
    const FinalEntry& winner = final.entries[static_cast<size_t>(final.winner)];
    if (IsClearlyFaster(final.entries[0].round_ns, entry.round_ns) &&
        entry.ratio_to_default > winner.ratio_to_default) {
      final.winner = static_cast<int>(i);
    }
  }
}

}  // namespace

bool MissesRounds(const hone::v1::MeasureResult& result, int rounds) {
  return std::any_of(result.candidates().begin(), result.candidates().end(),
                     [&](const Result& candidate) {
                       return candidate.outcome() == hone::v1::MEASURE_OUTCOME_OK &&
                              CountRounds(candidate, rounds) < rounds;
                     });
}

absl::StatusOr<tuning_db::Final> JudgeFinal(tuning_db::Final facts,
                                            const std::vector<FinalEntry>& entries,
                                            const hone::v1::MeasureResult& result, int rounds) {
  tuning_db::Final final = std::move(facts);
  std::vector<const Result*> taking_part;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Result& measured = result.candidates(static_cast<int>(i));
    const std::string why = WhyOut(measured, rounds);
    if (why.empty()) {
      taking_part.push_back(&measured);
      final.entries.push_back(entries[i]);
    } else if (i == 0) {
      return absl::InvalidArgumentError("the default config failed its final, " + why);
    } else {
      spdlog::warn("config {} leaves its final, {}", entries[i].config, why);
    }
  }
  const std::vector<int> common = CommonRounds(taking_part, rounds);
  if (static_cast<int>(common.size()) < std::min(kFewestRounds, rounds)) {
    return absl::InvalidArgumentError(
        fmt::format("the final could not be timed: {} of {} rounds have a time of every config, {} "
                    "are needed; is the device busy with other work?",
                    common.size(), rounds, kFewestRounds));
  }
  Compare(taking_part, common, final);
  final.default_entry = 0;
  final.toolchain = result.candidates(0).toolchain();
  final.device = result.device_fingerprint();
  return final;
}

}  // namespace hone::tuner
