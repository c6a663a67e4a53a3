#include "tuner/metered.h"

#include <utility>

namespace hone::tuner {

void PhaseSeconds::Add(int64_t job, const std::string& phase, int64_t ns) {
  const double seconds = static_cast<double>(ns) * 1e-9;
  const std::lock_guard lock(mutex_);
  seconds_[phase] += seconds;
  by_job_[job][phase] += seconds;
  if (by_job_.size() > kMostJobs) by_job_.erase(by_job_.begin());
}

PhaseSeconds::Seconds PhaseSeconds::Snapshot() const {
  const std::lock_guard lock(mutex_);
  return seconds_;
}

PhaseSeconds::Seconds PhaseSeconds::OfJob(int64_t job) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_job_.find(job);
  return found != by_job_.end() ? found->second : Seconds();
}

namespace {

const char* NameOf(hone::v1::BuildOutcome outcome) {
  switch (outcome) {
    case hone::v1::BUILD_OUTCOME_OK:
      return "ok";
    case hone::v1::BUILD_OUTCOME_INVALID_CONFIG:
      return "invalid_config";
    case hone::v1::BUILD_OUTCOME_BUILD_TIMEOUT:
      return "build_timeout";
    default:
      return "build_error";
  }
}

}  // namespace

void BuildCounts::Begin(size_t count) {
  const std::lock_guard lock(mutex_);
  open_ += count;
}

void BuildCounts::End(const absl::StatusOr<hone::v1::BuildReply>& reply) {
  if (reply.ok()) {
    const int64_t ns = reply->lower_ns() + reply->emit_ns() + reply->optimise_ns() +
                       reply->machine_code_ns() + reply->link_ns();
    seconds_.Add(static_cast<double>(ns) * 1e-9);
  }
  const std::lock_guard lock(mutex_);
  open_ -= open_ > 0 ? 1 : 0;
  ended_[reply.ok() ? NameOf(reply->outcome()) : "builder_failed"] += 1;
}

BuildCounts::Totals BuildCounts::Read() const {
  const std::lock_guard lock(mutex_);
  return {open_, ended_, seconds_.Read()};
}

void MeteredBuilder::Build(const hone::v1::BuildBatch& batch, BuildCallback done) {
  counts_.Begin(static_cast<size_t>(batch.requests_size()));
  std::map<uint64_t, int64_t> jobs;
  for (const hone::v1::BuildRequest& request : batch.requests()) {
    jobs[request.id()] = request.job();
  }
  builder_.Build(batch,
                 [&seconds = seconds_, &counts = counts_, jobs = std::move(jobs),
                  done = std::move(done)](uint64_t id, absl::StatusOr<hone::v1::BuildReply> reply) {
                   counts.End(reply);
                   if (reply.ok()) {
                     const auto found = jobs.find(id);
                     const int64_t job = found != jobs.end() ? found->second : 0;
                     seconds.Add(job, "lower", reply->lower_ns());
                     seconds.Add(job, "emit", reply->emit_ns());
                     seconds.Add(job, "optimise", reply->optimise_ns());
                     seconds.Add(job, "machine_code", reply->machine_code_ns());
                     seconds.Add(job, "link", reply->link_ns());
                   }
                   done(id, std::move(reply));
                 });
}

void MeteredMeasurer::Measure(MeasureRequest request, MeasureCallback done) {
  const int64_t job = request.trial.job;
  measurer_.Measure(
      std::move(request), [job, &seconds = seconds_, done = std::move(done)](
                              const MeasureReport& report, const SettledCallback& settled) {
        for (const hone::v1::CandidateResult& candidate : report.result.candidates()) {
          seconds.Add(job, "transfer", candidate.transfer_ns());
          seconds.Add(job, "sandbox", candidate.sandbox_ns());
          seconds.Add(job, "check", candidate.check_ns());
          seconds.Add(job, "timing", candidate.timing_ns());
        }
        done(report, settled);
      });
}

}  // namespace hone::tuner
