#include "tuning_db/types.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hone::tuning_db {
namespace {

constexpr std::array<std::string_view, 11> kOutcomes = {
    "ok",          "invalid_config", "build_error",   "build_timeout", "load_error", "crash",
    "run_timeout", "wrong_output",   "out_of_memory", "device_lost",   "cancelled"};
constexpr std::array<std::string_view, 4> kPurposes = {"search", "confirm", "calibrate", "rerun"};
constexpr std::array<std::string_view, 3> kTrialStates = {"proposed", "leased", "settled"};
constexpr std::array<std::string_view, 6> kJobStates = {"queued", "running",   "done",
                                                        "failed", "cancelled", "paused"};

template <typename Enum, size_t N>
std::string_view NameIn(const std::array<std::string_view, N>& names, Enum value) {
  const auto i = static_cast<size_t>(value);
  return i < N ? names[i] : "unknown";
}

template <typename Enum, size_t N>
std::optional<Enum> FindIn(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

bool IsProposed(Purpose purpose) {
  return purpose == Purpose::kSearch || purpose == Purpose::kCalibrate;
}

double RankedNs(const Record& record) {
  if (record.outcome != Outcome::kOk) return 0;
  const auto least = std::ranges::min_element(record.samples_ns);
  return least == record.samples_ns.end() ? record.median_ns : *least;  // an old log has none
}

std::vector<double> RankingSamples(const std::vector<double>& samples_ns) {
  if (samples_ns.empty()) return {};
  return {*std::ranges::min_element(samples_ns)};
}

bool HasEnded(JobState state) {
  return state == JobState::kDone || state == JobState::kFailed || state == JobState::kCancelled;
}

std::string_view Name(Outcome outcome) { return NameIn(kOutcomes, outcome); }
std::string_view Name(Purpose purpose) { return NameIn(kPurposes, purpose); }
std::string_view Name(TrialState state) { return NameIn(kTrialStates, state); }
std::string_view Name(JobState state) { return NameIn(kJobStates, state); }

std::optional<Outcome> ParseOutcome(std::string_view name) {
  return FindIn<Outcome>(kOutcomes, name);
}
std::optional<Purpose> ParsePurpose(std::string_view name) {
  return FindIn<Purpose>(kPurposes, name);
}

std::optional<JobState> ParseJobState(std::string_view name) {
  return FindIn<JobState>(kJobStates, name);
}

FinalFigures FiguresOf(const Final& final) {
  return {.distinct_trials = final.distinct_trials,
          .space_size = final.space_size,
          .ended_share = final.ended_share,
          .default_ns = final.entries[static_cast<size_t>(final.default_entry)].median_ns,
          .winner_ns = WinnerNs(final)};
}

double WinnerNs(const Final& final) {
  return final.entries[static_cast<size_t>(final.default_entry)].median_ns /
         final.entries[static_cast<size_t>(final.winner)].ratio_to_default;
}

}  // namespace hone::tuning_db
