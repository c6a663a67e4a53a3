#include "tuner/jobs/task_runner.h"

#include <algorithm>
#include <atomic>

#include "support/status.h"
#include "tuner/jobs/regime.h"
#include "tuner/search_names.h"
#include "tuning_db/resolve.h"

namespace hone::tuner {
namespace {

uint64_t NextSerial() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

}  // namespace

TaskKey KeyOf(const tuning_db::JobTask& task) { return {task.task, task.signature}; }

std::set<TaskKey> KeysOf(const tuning_db::Job& job) {
  std::set<TaskKey> keys;
  for (const tuning_db::JobTask& task : job.tasks) keys.insert(KeyOf(task));
  return keys;
}

tuning_db::Purpose PurposeOf(const tuning_db::Job& job) {
  return job.search == kCalibratingSearch.name ? tuning_db::Purpose::kCalibrate
                                               : tuning_db::Purpose::kSearch;
}

hone::v1::SandboxLevel SandboxOf(const tuning_db::Job& job) {
  return static_cast<hone::v1::SandboxLevel>(job.sandbox);
}

TaskRunner::TaskRunner(TaskKey of, tuning_db::Task what)
    : serial(NextSerial()),
      key(std::move(of)),
      task(std::move(what)),
      history(key.first, key.second) {}

void TaskRunner::AddWant(const Want& want) {
  const auto after = std::find_if(wants.begin(), wants.end(), [&](const Want& other) {
    return other.job->job.priority < want.job->job.priority;
  });
  wants.insert(after, want);
  ChooseRegime();
}

void TaskRunner::RemoveWants(int64_t job) {
  std::erase_if(wants, [&](const Want& want) { return want.job->job.id == job; });
  ChooseRegime();
}

void TaskRunner::ChooseRegime() {
  if (context == nullptr || wants.empty()) return;
  const int64_t model_bytes = wants.front().job->job.constant_bytes;
  const char* regime = RegimeOf(*context, model_bytes);
  rotation_bytes = RotationBytes(regime, *context, model_bytes);
  history.CompareIn(regime);
}

DeviceNeed TaskRunner::Need(const Measurer& measurer) const {
  DeviceNeed of_all(task.target);
  bool differ = false;
  for (const Want& want : wants) {
    const tuning_db::Job& job = want.job->job;
    const tuning_db::Job& first = wants.front().job->job;
    of_all.sandbox = std::max(of_all.sandbox, SandboxOf(job));
    differ |= SandboxOf(job) != SandboxOf(first) || job.device_class != first.device_class;
  }
  if (!wants.empty()) of_all.device_class = wants.front().job->job.device_class;
  if (!differ || measurer.Serves(of_all)) return of_all;
  for (const Want& want : wants) {
    const tuning_db::Job& job = want.job->job;
    DeviceNeed own(task.target, SandboxOf(job), job.device_class);
    if (measurer.Serves(own)) return own;
  }
  return of_all;
}

void TaskRunner::KeepOnlyMeasuring(const std::set<int64_t>& trials) {
  std::erase_if(measuring, [&](int64_t trial) { return !trials.contains(trial); });
  std::erase_if(open, [&](const auto& item) { return !measuring.contains(item.first); });
  if (final_run && !measuring.contains(final_run->trial.id)) final_run.reset();
  open_confirm.reset();
  is_stale = true;
  ForgetBuilding();
}

void TaskRunner::ForgetBuilding() {
  for (SharedArtifact* const shared : {&reference, &anchor}) {
    if (shared->state == SharedArtifact::State::kBuilding) *shared = {};
  }
}

absl::Status TaskRunner::CatchUp(tuning_db::Store& store) {
  HONE_ASSIGN_OR_RETURN(const bool is_behind, history.IsBehind(store));
  return is_behind ? Reload(store) : absl::OkStatus();
}

absl::Status TaskRunner::Reload(tuning_db::Store& store) {
  TaskHistory reloaded(key.first, key.second);
  reloaded.ReadIn(&context->space());
  HONE_RETURN_IF_ERROR(reloaded.Load(store));
  for (const auto& [id, trial] : open) reloaded.Proposed(trial);
  history = std::move(reloaded);
  is_stale = false;
  ChooseRegime();
  return absl::OkStatus();
}

bool TaskRunner::Has(int64_t trial) const {
  return open.contains(trial) || (open_confirm && open_confirm->id == trial) ||
         (final_run && final_run->trial.id == trial);
}

bool TaskRunner::IsMeasuringFinal() const {
  return final_run && measuring.count(final_run->trial.id) > 0;
}

const Want* TaskRunner::WhoWantsMore() const {
  if (exhausted) return nullptr;
  for (const Want& want : wants) {
    if (want.WantsMoreThan(history.count())) return &want;
  }
  return nullptr;
}

bool TaskRunner::IsSearchedFor(int64_t job) const {
  return exhausted || std::ranges::all_of(wants, [&](const Want& want) {
           return want.job->job.id != job || history.count() >= want.task->trials ||
                  want.HasEnded(history.count());
         });
}

double TaskRunner::EndedShare() const {
  double share = 0;
  for (const Want& want : wants) {
    if (want.HasEnded(history.count())) share = std::max(share, want.share);
  }
  return share;
}

double TaskRunner::ShareOfFinal() const {
  const double share = EndedShare();
  const std::optional<tuning_db::Final>& final = history.final();
  const bool is_unchanged = final && final->distinct_trials == history.settled();
  return share == 0 && is_unchanged ? final->ended_share : share;
}

int64_t TaskRunner::LeftOfBudget() const {
  int64_t most = 0;
  for (const Want& want : wants) {
    if (want.WantsMoreThan(history.count())) most = std::max(most, want.task->trials);
  }
  return std::max<int64_t>(0, most - history.count());
}

bool TaskRunner::WantsWinner() const {
  return std::any_of(wants.begin(), wants.end(), [](const Want& want) {
    return PurposeOf(want.job->job) == tuning_db::Purpose::kSearch;
  });
}

bool TaskRunner::NeedsFinal() const {
  if (!WantsWinner()) return false;
  // It would measure the default alone, and hold up the end of the job.
  if (!HasTime() && history.settled() == 0) return false;
  if (const std::optional<tuning_db::Final>& final = history.final()) {
    // One that does not know that the search has ended leaves its winner less than tuned; nor does
    // one know that the space is used up whose confirm trial an earlier life of the daemon
    // proposed.
    if (EndedShare() > 0 && !tuning_db::IsTuned(*final)) return true;
    if (exhausted && final->space_size > final->distinct_trials) return true;
  }
  return context == nullptr || !history.FinalIsCurrent(context->default_config());
}

bool TaskRunner::IsLate() const {
  const bool wants_more = std::ranges::any_of(
      wants, [this](const Want& want) { return want.WantsMoreThan(history.settled()); });
  return !wants_more &&
         std::ranges::any_of(wants, [](const Want& want) { return want.job->expired; });
}

bool TaskRunner::HasTime() const {
  return std::any_of(wants.begin(), wants.end(),
                     [](const Want& want) { return !want.job->expired; });
}

}  // namespace hone::tuner
