#include "tuner/jobs/batch_turns.h"

#include <set>

namespace hone::tuner {

uint64_t BatchTurns::OfJob(const TaskRunner& runner) const {
  const auto found = jobs_.find(runner.charged_job());
  return found == jobs_.end() ? 0 : found->second;
}

uint64_t BatchTurns::OfSubmitter(const TaskRunner& runner) const {
  const auto found = submitters_.find(runner.submitter());
  return found == submitters_.end() ? 0 : found->second;
}

void BatchTurns::Took(const TaskRunner& runner, const ActiveJobs& jobs) {
  jobs_[runner.charged_job()] = ++newest_;
  submitters_[runner.submitter()] = newest_;
  std::set<std::string> submitters;
  for (const auto& [id, active] : jobs) submitters.insert(active.job.submitter);
  std::erase_if(jobs_, [&](const auto& item) { return !jobs.contains(item.first); });
  std::erase_if(submitters_, [&](const auto& item) { return !submitters.contains(item.first); });
}

}  // namespace hone::tuner
