#include "cli/log_rows.h"

#include <vector>

#include "fmt/format.h"
#include "runtime/target_text.h"
#include "tuner/input_seed.h"

namespace hone::cli {

nlohmann::json ToJson(const v1::RecordInfo& record) {
  return {{"id", record.id()},
          {"workload", record.workload()},
          {"target", record.target()},
          {"emulated", IsOfEmulated(record.target())},
          {"signature", record.signature()},
          {"config", record.config()},
          {"purpose", record.purpose()},
          {"outcome", record.outcome()},
          {"message", record.message()},
          {"median_us", record.median_ns() * 1e-3},
          {"error_ratio", record.error_ratio()},
          {"device", record.device()},
          {"toolchain", record.toolchain()},
          {"regime", record.regime()},
          {"job", record.job()},
          {"worker", record.worker()},
          {"retracted", record.retracted()},
          {"time", record.wall_time_ns()}};
}

nlohmann::json ToJson(const v1::GetRecordResponse& record) {
  nlohmann::json row = ToJson(record.record());
  row["workload_digest"] = record.workload_digest();
  row["anchor_digest"] = record.anchor_digest();
  row["config_digest"] = record.config_digest();
  row["nest_digest"] = record.record().nest_digest();
  row["artifact_digest"] = record.record().artifact_digest();
  row["trial"] = record.trial();
  row["round"] = record.round();
  row["attempt"] = record.attempt();
  std::vector<double> samples_us;
  for (const double sample_ns : record.samples_ns()) samples_us.push_back(sample_ns * 1e-3);
  row["samples_us"] = samples_us;
  row["calibrator_us"] = record.record().calibrator_ns() * 1e-3;
  row["anchor_us"] = record.anchor_ns() * 1e-3;
  row["constant_bytes"] = record.constant_bytes();
  row["input_seed"] = tuner::kInputSeed;
  row["final"] = record.final();
  return row;
}

absl::StatusOr<nlohmann::json> ToJson(const v1::FinalInfo& final) {
  const auto is_there = [&](int32_t i) { return i >= 0 && i < final.entries_size(); };
  if (!is_there(final.winner()) || !is_there(final.default_entry())) {
    return absl::InternalError(
        fmt::format("expected final {} with its winner and its default, found {} candidates",
                    final.id(), final.entries_size()));
  }
  const v1::FinalEntryInfo& winner = final.entries(final.winner());
  return nlohmann::json{{"id", final.id()},
                        {"workload", final.workload()},
                        {"target", final.target()},
                        {"emulated", IsOfEmulated(final.target())},
                        {"signature", final.signature()},
                        {"config", winner.config()},
                        {"best_us", final.winner_ns() * 1e-3},
                        {"default_us", final.entries(final.default_entry()).median_ns() * 1e-3},
                        {"ratio_to_default", winner.ratio_to_default()},
                        {"tuned", final.tuned()},
                        {"trials", final.distinct_trials()},
                        {"space", final.space_size()},
                        {"nest_digest", winner.nest_digest()},
                        {"artifact_digest", winner.artifact_digest()},
                        {"device", final.device()},
                        {"toolchain", final.toolchain()},
                        {"job", final.job()},
                        {"record", final.record()},
                        {"time", final.wall_time_ns()}};
}

nlohmann::json TotalsToJson(const v1::GetLogStatsResponse& stats) {
  return {{"records", stats.records()},
          {"failures", stats.failures()},
          {"tasks", stats.tasks()},
          {"finals", stats.finals()},
          {"first_time", stats.first_wall_ns()},
          {"last_time", stats.last_wall_ns()}};
}

}  // namespace hone::cli
