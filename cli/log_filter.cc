#include "cli/log_filter.h"

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "cli/time_flag.h"
#include "cli/whole_number.h"
#include "support/status.h"
#include "tuner/log_reader.h"
#include "tuning_db/well_formed.h"

namespace hone::cli {

void LogFilterFlags::AddTo(CLI::App& verb, bool has_outcomes) {
  verb.add_option("--op", op_, "An operator of the workload, such as nn.conv2d");
  verb.add_option("--shape", shape_, "The shape of one of its operands, such as 1x64x56x56");
  verb.add_option("--workload", workload_, "A part of the workload's text")->check(Utf8Text());
  verb.add_option("--target", target_, "A part of the target's text")->check(Utf8Text());
  verb.add_option("--device", device_, "How the device's fingerprint begins")->check(Utf8Text());
  verb.add_option("--job", job_, "The job that it was measured for")
      ->check(WholeNumber<int64_t>(1));
  if (has_outcomes) {
    verb.add_option("--purpose", purpose_, "search, confirm, calibrate or rerun");
    verb.add_option("--outcome", outcome_, "ok, wrong_output, ..., or failed: any that is not ok");
  }
  verb.add_option("--since", since_, "So long ago at most (7d), or since a day (2026-11-27, UTC)");
  verb.add_option("--before", before_, "So long ago at least (7d), or before a day");
  verb.add_flag("--retracted", with_retracted_, "Also what was retracted, and why");
}

absl::StatusOr<v1::LogFilter> LogFilterFlags::Resolve() const {
  v1::LogFilter filter;
  filter.set_op(op_);
  filter.set_shape(shape_);
  filter.set_workload(workload_);
  filter.set_target(target_);
  filter.set_device(device_);
  filter.set_job(job_);
  filter.set_purpose(purpose_);
  filter.set_outcome(outcome_);
  filter.set_with_retracted(with_retracted_);
  HONE_ASSIGN_OR_RETURN(const int64_t since_ns, ParseTimeFlag("--since", since_));
  HONE_ASSIGN_OR_RETURN(const int64_t before_ns, ParseTimeFlag("--before", before_));
  filter.set_since_wall_ns(since_ns);
  filter.set_before_wall_ns(before_ns);
  const absl::StatusOr<tuning_db::RecordFilter> found = tuner::FilterOf(filter);
  const absl::Status status = found.ok() ? tuning_db::IsWellFormed(*found) : found.status();
  if (!status.ok()) return WithExitCode(status, kUsage);
  return filter;
}

}  // namespace hone::cli
