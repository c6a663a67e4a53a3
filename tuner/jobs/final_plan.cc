#include "tuner/jobs/final_plan.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <set>

#include "support/status.h"
#include "tuner/measure_record.h"

namespace hone::tuner {

using tuning_db::FinalEntry;

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
    const auto config = schedule::Config::Parse(winner.config);
    if (config.ok()) add(*config, winner.nest_digest);
  }
  int left = top;
  for (const TaskHistory::Entry* entry : history.Ranked()) {
    if (left == 0) break;
    left -= add(entry->config, entry->trial.nest_digest);
  }
  return finalists;
}

namespace {

double PairedRatio(const std::vector<double>& standard, const std::vector<double>& other) {
  std::vector<double> ratios;
  for (size_t i = 0; i < standard.size(); ++i) ratios.push_back(standard[i] / other[i]);
  return Median(ratios);
}

bool IsWhole(const hone::v1::CandidateResult& result, int rounds) {
  if (result.outcome() != hone::v1::MEASURE_OUTCOME_OK || result.samples_ns_size() != rounds) {
    return false;
  }
  for (const double sample : result.samples_ns()) {
    if (!(sample > 0)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<tuning_db::Final> JudgeFinal(const std::vector<tuning_db::FinalEntry>& entries,
                                            const hone::v1::MeasureResult& result, int rounds) {
  if (static_cast<size_t>(result.candidates_size()) != entries.size()) {
    return absl::FailedPreconditionError(fmt::format("a final of {} entries has {} results",
                                                     entries.size(), result.candidates_size()));
  }
  tuning_db::Final final;
  for (size_t i = 0; i < entries.size(); ++i) {
    const hone::v1::CandidateResult& measured = result.candidates(static_cast<int>(i));
    if (!IsWhole(measured, rounds)) {
      const std::string why =
          fmt::format("{} with {} of {} rounds: {}", tuning_db::Name(ToOutcome(measured.outcome())),
                      measured.samples_ns_size(), rounds, measured.message());
      if (i == 0) return absl::InvalidArgumentError("the default config failed its final, " + why);
      spdlog::warn("config {} leaves its final, {}", entries[i].config, why);
      continue;
    }
    FinalEntry entry = entries[i];
    entry.round_ns.assign(measured.samples_ns().begin(), measured.samples_ns().end());
    entry.median_ns = Median(entry.round_ns);
    if (!final.entries.empty()) {
      entry.ratio_to_default = PairedRatio(final.entries[0].round_ns, entry.round_ns);
    }
    final.entries.push_back(std::move(entry));
    const FinalEntry& newest = final.entries.back();
    const FinalEntry& winner = final.entries[static_cast<size_t>(final.winner)];
    const bool is_faster = newest.median_ns <= final.entries[0].median_ns;
    if (is_faster && newest.ratio_to_default > winner.ratio_to_default) {
      final.winner = static_cast<int>(final.entries.size()) - 1;
    }
  }
  final.default_entry = 0;
  final.device = result.device_fingerprint();
  return final;
}

}  // namespace hone::tuner
