#include "tuner/log_reader.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "google/protobuf/repeated_ptr_field.h"
#include "support/status.h"
#include "tuner/service/page.h"
#include "tuning_db/cursor.h"
#include "tuning_db/resolve.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

v1::RecordInfo ToProto(const tuning_db::Record& record, const tuning_db::Task& task) {
  v1::RecordInfo info;
  info.set_id(record.id);
  info.set_workload(task.workload);
  info.set_target(task.target);
  info.set_signature(record.of_trial.signature);
  info.set_config(record.of_trial.config);
  info.set_purpose(std::string(tuning_db::Name(record.of_trial.purpose)));
  info.set_outcome(std::string(tuning_db::Name(record.outcome)));
  info.set_message(record.message);
  info.set_median_ns(record.median_ns);
  info.set_calibrator_ns(record.calibrator_ns);
  info.set_error_ratio(record.error_ratio);
  info.set_nest_digest(record.of_trial.nest_digest);
  info.set_artifact_digest(record.artifact_digest);
  info.set_toolchain(record.toolchain);
  info.set_device(record.device);
  info.set_regime(record.regime);
  info.set_job(record.of_trial.job);
  info.set_worker(record.worker);
  info.set_wall_time_ns(record.wall_time_ns);
  info.set_retracted(record.retracted);
  return info;
}

v1::FinalInfo ToProto(const tuning_db::Final& final, const tuning_db::Task& task) {
  v1::FinalInfo info;
  info.set_id(final.id);
  info.set_workload(task.workload);
  info.set_target(task.target);
  info.set_signature(final.signature);
  info.set_job(final.job);
  info.set_record(final.record);
  info.set_distinct_trials(final.distinct_trials);
  info.set_space_size(final.space_size);
  info.set_tuned(tuning_db::IsTuned(final));
  info.set_winner(final.winner);
  info.set_default_entry(final.default_entry);
  for (const tuning_db::FinalEntry& entry : final.entries) {
    v1::FinalEntryInfo& of_entry = *info.add_entries();
    of_entry.set_config(entry.config);
    of_entry.set_nest_digest(entry.nest_digest);
    of_entry.set_artifact_digest(entry.artifact_digest);
    of_entry.set_median_ns(entry.median_ns);
    of_entry.set_ratio_to_default(entry.ratio_to_default);
  }
  info.set_winner_ns(tuning_db::WinnerNs(final));
  info.set_toolchain(final.toolchain);
  info.set_device(final.device);
  info.set_wall_time_ns(final.wall_time_ns);
  return info;
}

// A page ends after so many bytes, however many rows were asked for: a workload has up to a
// megabyte, and a message a limit.
constexpr size_t kPageBytes = size_t{16} << 20;

void AddCounts(const std::vector<tuning_db::LogCount>& counts,
               google::protobuf::RepeatedPtrField<v1::LogCount>& list) {
  for (const tuning_db::LogCount& count : counts) {
    v1::LogCount& next = *list.Add();
    next.set_name(count.name);
    next.set_records(count.records);
    next.set_failures(count.failures);
  }
}

// What the first version of the request says besides a filter.
absl::StatusOr<tuning_db::RecordFilter> FilterOf(const v1::ListRecordsRequest& request) {
  HONE_ASSIGN_OR_RETURN(tuning_db::RecordFilter filter, tuner::FilterOf(request.filter()));
  filter.target = request.target();
  const bool is_said_twice = (!request.workload().empty() && !filter.workload_substring.empty()) ||
                             (request.job() != 0 && filter.job);
  if (is_said_twice) {
    return absl::InvalidArgumentError(
        "expected the workload and the job in the filter alone, found them beside it, too");
  }
  if (!request.workload().empty()) filter.workload_substring = request.workload();
  if (request.job() != 0) filter.job = request.job();
  if (request.with_retracted()) filter.with_retracted = true;
  return filter;
}

}  // namespace

absl::StatusOr<tuning_db::RecordFilter> FilterOf(const v1::LogFilter& filter) {
  tuning_db::RecordFilter found;
  found.target_part = filter.target();
  found.workload_substring = filter.workload();
  found.op = filter.op();
  found.shape = filter.shape();
  found.device_prefix = filter.device();
  if (filter.job() != 0) found.job = filter.job();
  if (!filter.purpose().empty()) {
    found.purpose = tuning_db::ParsePurpose(filter.purpose());
    if (!found.purpose) {
      return absl::InvalidArgumentError(
          fmt::format("expected a purpose (search, confirm, calibrate or rerun), found '{}'",
                      filter.purpose()));
    }
  }
  found.is_failure = filter.outcome() == "failed";
  if (!filter.outcome().empty() && !found.is_failure) {
    found.outcome = tuning_db::ParseOutcome(filter.outcome());
    if (!found.outcome) {
      return absl::InvalidArgumentError(fmt::format(
          "expected an outcome such as ok, wrong_output or failed (any that is not ok), found '{}'",
          filter.outcome()));
    }
  }
  found.since_wall_ns = filter.since_wall_ns();
  found.before_wall_ns = filter.before_wall_ns();
  found.with_retracted = filter.with_retracted();
  return found;
}

absl::StatusOr<v1::ListRecordsResponse> LogReader::ListRecords(
    const v1::ListRecordsRequest& request) const {
  HONE_ASSIGN_OR_RETURN(const tuning_db::RecordFilter filter, FilterOf(request));
  const auto order =
      request.oldest_first() ? tuning_db::Order::kOldestFirst : tuning_db::Order::kNewestFirst;
  HONE_ASSIGN_OR_RETURN(
      const tuning_db::RecordPage page,
      store_->ListRecords(filter, order, request.page_token(), PageSize(request.page_size())));
  v1::ListRecordsResponse response;
  std::map<int64_t, tuning_db::Task> tasks;
  size_t bytes = 0;
  for (const tuning_db::Record& record : page.records) {
    const auto [task, is_new] = tasks.try_emplace(record.of_trial.task);
    if (is_new) {
      HONE_ASSIGN_OR_RETURN(task->second, store_->GetTask(task->first));
    }
    v1::RecordInfo& info = *response.add_records();
    info = ToProto(record, task->second);
    bytes += info.ByteSizeLong();
    if (bytes < kPageBytes || &record == &page.records.back()) continue;
    response.set_next_page_token(tuning_db::ToCursor(order, record.id));
    return response;
  }
  if (!page.is_last) response.set_next_page_token(page.next);
  return response;
}

absl::StatusOr<v1::GetRecordResponse> LogReader::GetRecord(
    const v1::GetRecordRequest& request) const {
  HONE_ASSIGN_OR_RETURN(const tuning_db::RecordDetail detail, store_->GetRecord(request.record()));
  const tuning_db::Record& record = detail.record;
  v1::GetRecordResponse response;
  *response.mutable_record() = ToProto(record, detail.task);
  response.set_workload_digest(detail.task.workload_digest);
  response.set_anchor_digest(detail.task.anchor_digest);
  response.set_config_digest(record.of_trial.config_digest);
  response.set_trial(record.trial);
  response.set_round(record.of_trial.round);
  response.set_attempt(record.of_trial.attempt);
  response.mutable_samples_ns()->Add(record.samples_ns.begin(), record.samples_ns.end());
  response.set_anchor_ns(record.anchor_ns);
  response.set_constant_bytes(detail.constant_bytes);
  response.set_final(detail.final);
  return response;
}

absl::StatusOr<v1::ListFinalsResponse> LogReader::ListFinals(
    const v1::ListFinalsRequest& request) const {
  HONE_ASSIGN_OR_RETURN(const tuning_db::RecordFilter filter, tuner::FilterOf(request.filter()));
  HONE_ASSIGN_OR_RETURN(
      const tuning_db::FinalPage page,
      store_->ListFinals(filter, request.page_token(), PageSize(request.page_size())));
  v1::ListFinalsResponse response;
  size_t bytes = 0;
  for (const auto& [task, final] : page.finals) {
    v1::FinalInfo& info = *response.add_finals();
    info = ToProto(final, task);
    bytes += info.ByteSizeLong();
    if (bytes < kPageBytes || &final == &page.finals.back().final) continue;
    response.set_next_page_token(tuning_db::ToFinalCursor({.task = task.id, .final = final.id}));
    return response;
  }
  if (!page.is_last) response.set_next_page_token(page.next);
  return response;
}

absl::StatusOr<v1::GetLogStatsResponse> LogReader::GetLogStats(
    const v1::GetLogStatsRequest& request) const {
  HONE_ASSIGN_OR_RETURN(const tuning_db::RecordFilter filter, tuner::FilterOf(request.filter()));
  HONE_ASSIGN_OR_RETURN(const tuning_db::LogStats stats, store_->Stats(filter));
  v1::GetLogStatsResponse response;
  response.set_records(stats.records);
  response.set_failures(stats.failures);
  response.set_tasks(stats.tasks);
  response.set_finals(stats.finals);
  response.set_first_wall_ns(stats.first_wall_ns);
  response.set_last_wall_ns(stats.last_wall_ns);
  AddCounts(stats.outcomes, *response.mutable_outcomes());
  AddCounts(stats.purposes, *response.mutable_purposes());
  AddCounts(stats.targets, *response.mutable_targets());
  AddCounts(stats.devices, *response.mutable_devices());
  AddCounts(stats.days, *response.mutable_days());
  return response;
}

}  // namespace hone::tuner
