#include "tuning_db/progress_text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace hone::tuning_db {
namespace {

using nlohmann::json;

// JSON has no number for what is not finite. As in the log, null is NaN.
json NumberOf(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double RealOf(const json& field) {
  if (field.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (field == "inf") return std::numeric_limits<double>::infinity();
  if (field == "-inf") return -std::numeric_limits<double>::infinity();
  return field;
}

json ToJson(const TaskProgress& task) {
  json fields = {{"task", task.task},
                 {"signature", task.signature},
                 {"workload_digest", task.workload_digest},
                 {"trials", task.trials},
                 {"job_trials", task.job_trials},
                 {"job_failures", task.job_failures},
                 {"default_ns", NumberOf(task.default_ns)},
                 {"best_ns", NumberOf(task.best_ns)}};
  if (!task.final) return fields;
  fields["final"] = {{"distinct_trials", task.final->distinct_trials},
                     {"space_size", task.final->space_size},
                     {"ended_share", NumberOf(task.final->ended_share)},
                     {"default_ns", NumberOf(task.final->default_ns)},
                     {"winner_ns", NumberOf(task.final->winner_ns)}};
  return fields;
}

TaskProgress FromJson(const json& fields) {
  TaskProgress task;
  task.task = fields.at("task");
  task.signature = fields.at("signature");
  task.workload_digest = fields.at("workload_digest");
  task.trials = fields.at("trials");
  task.job_trials = fields.at("job_trials");
  task.job_failures = fields.at("job_failures");
  task.default_ns = RealOf(fields.at("default_ns"));
  task.best_ns = RealOf(fields.at("best_ns"));
  if (!fields.contains("final")) return task;
  const json& of_final = fields.at("final");
  task.final = FinalFigures{.distinct_trials = of_final.at("distinct_trials"),
                            .space_size = of_final.at("space_size"),
                            .ended_share = RealOf(of_final.at("ended_share")),
                            .default_ns = RealOf(of_final.at("default_ns")),
                            .winner_ns = RealOf(of_final.at("winner_ns"))};
  return task;
}

}  // namespace

std::string ToText(const std::vector<TaskProgress>& progress) {
  json tasks = json::array();
  for (const TaskProgress& task : progress) tasks.push_back(ToJson(task));
  return tasks.dump(-1, ' ', false, json::error_handler_t::replace);
}

absl::StatusOr<std::vector<TaskProgress>> ProgressFromText(std::string_view text) {
  try {
    std::vector<TaskProgress> progress;
    for (const json& task : json::parse(text)) progress.push_back(FromJson(task));
    return progress;
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(fmt::format(
        "expected how far a job had come, found something else: {}; the database is damaged, "
        "restore a backup",
        error.what()));
  }
}

}  // namespace hone::tuning_db
