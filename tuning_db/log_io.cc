#include "tuning_db/log_io.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/status.h"
#include "tuning_db/log_line.h"

namespace hone::tuning_db {
namespace {

constexpr char kFirstLine[] = R"({"hone_log": 1})";

absl::StatusOr<std::vector<LogLine>> ReadLines(std::istream& in) {
  std::string text;
  if (!std::getline(in, text) || text != kFirstLine) {
    return absl::InvalidArgumentError(
        fmt::format("line 1: not a tuning log; expected {}", kFirstLine));
  }
  std::vector<LogLine> lines;
  for (int64_t number = 2; std::getline(in, text); ++number) {
    absl::StatusOr<LogLine> line = ParseLogLine(text);
    if (!line.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("line {}: {}", number, std::string(line.status().message())));
    }
    lines.push_back(*std::move(line));
  }
  return lines;
}

// False where the trial is there.
absl::StatusOr<bool> ImportRecord(Store& store, int64_t task, const Record& record) {
  Trial trial = record.of_trial;
  trial.task = task;
  trial.job = 0;
  HONE_ASSIGN_OR_RETURN(const SettleResult result, store.Import(trial, record));
  return result == SettleResult::kSettled;
}

// The record that it came of, which was settled with it; nothing where it is not there. A log names
// no records, as their ids are of one database.
absl::StatusOr<std::optional<Record>> RecordOf(Store& store, const Final& final) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Record> records,
                        store.Records({.task = final.task,
                                       .signature = final.signature,
                                       .purpose = Purpose::kConfirm,
                                       .outcome = Outcome::kOk,
                                       .device = final.device,
                                       .since_wall_ns = final.wall_time_ns,
                                       .before_wall_ns = final.wall_time_ns + 1,
                                       .with_retracted = true}));
  return records.empty() ? std::nullopt : std::optional(records.back());
}

// False where a final as new as this one is there, or was, until it was retracted.
absl::StatusOr<bool> ImportFinal(Store& store, int64_t task, Final final) {
  final.task = task;
  final.job = 0;
  HONE_ASSIGN_OR_RETURN(const std::optional<Final> newest,
                        store.NewestFinal(task, final.signature));
  if (newest && newest->wall_time_ns >= final.wall_time_ns) return false;
  HONE_ASSIGN_OR_RETURN(const std::optional<Record> record, RecordOf(store, final));
  if (record && !record->retracted.empty()) return false;
  final.record = record ? record->id : 0;
  HONE_RETURN_IF_ERROR(store.AddFinal(final).status());
  return true;
}

}  // namespace

absl::StatusOr<LogCounts> ExportLog(Store& store, const RecordFilter& filter, std::ostream& out) {
  LogCounts counts;
  std::map<int64_t, Task> tasks;
  std::set<std::pair<int64_t, std::string>> with_finals;
  HONE_ASSIGN_OR_RETURN(const std::vector<Record> records, store.Records(filter));
  out << kFirstLine << "\n";
  for (const Record& record : records) {
    Task& task = tasks[record.of_trial.task];
    if (task.id == 0) {
      HONE_ASSIGN_OR_RETURN(task, store.GetTask(record.of_trial.task));
    }
    with_finals.insert({task.id, record.of_trial.signature});
    LogLine line;
    line.task = task;
    line.record = record;
    out << ToJson(line) << "\n";
    ++counts.records;
  }
  for (const auto& [id, signature] : with_finals) {
    HONE_ASSIGN_OR_RETURN(std::optional<Final> final, store.NewestFinal(id, signature));
    if (!final) continue;
    LogLine line;
    line.task = tasks[id];
    line.is_final = true;
    line.final = *std::move(final);
    out << ToJson(line) << "\n";
    ++counts.finals;
  }
  if (!out.flush()) return absl::InternalError("cannot write the tuning log");
  return counts;
}

absl::StatusOr<LogCounts> ImportLog(Store& store, std::istream& in) {
  HONE_ASSIGN_OR_RETURN(const std::vector<LogLine> lines, ReadLines(in));
  LogCounts counts;
  for (const LogLine& line : lines) {
    HONE_ASSIGN_OR_RETURN(const int64_t task, store.EnsureTask(line.task));
    HONE_ASSIGN_OR_RETURN(const bool is_new, line.is_final
                                                 ? ImportFinal(store, task, line.final)
                                                 : ImportRecord(store, task, line.record));
    ++(!is_new ? counts.known : line.is_final ? counts.finals : counts.records);
  }
  return counts;
}

}  // namespace hone::tuning_db
