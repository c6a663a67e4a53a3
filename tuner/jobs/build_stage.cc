#include "tuner/jobs/build_stage.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <set>

#include "support/crash_point.h"
#include "support/digest.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::Outcome;
using tuning_db::Trial;

namespace {

Outcome OutcomeOfBuild(v1::BuildOutcome outcome) {
  switch (outcome) {
    case v1::BUILD_OUTCOME_INVALID_CONFIG:
      return Outcome::kInvalidConfig;
    case v1::BUILD_OUTCOME_BUILD_TIMEOUT:
      return Outcome::kBuildTimeout;
    default:
      return Outcome::kBuildError;
  }
}

Artifact ToArtifact(const v1::BuildReply& reply) {
  Artifact artifact;
  artifact.bytes = std::make_shared<const std::string>(reply.artifact());
  artifact.digest =
      reply.artifact_digest().empty() ? Sha256Hex(reply.artifact()) : reply.artifact_digest();
  artifact.toolchain = reply.toolchain();
  return artifact;
}

}  // namespace

// ---- what is asked for ----

BuildItem BuildStage::NewItem(const TaskRunner& runner, BuildItem::Kind kind) const {
  BuildItem item;
  item.kind = kind;
  item.key = runner.key;
  item.request.set_target(runner.task.target);
  item.request.set_limit_ns(loop_.options.build_limit_ns);
  if (!runner.wants.empty()) item.request.set_job(runner.wants.front().job->job.id);
  return item;
}

BuildItem BuildStage::NewItem(const TaskRunner& runner, BuildItem::Kind kind,
                              const std::string& config, const std::string& nest_digest) const {
  BuildItem item = NewItem(runner, kind);
  v1::BuildCandidate& candidate = *item.request.mutable_candidate();
  candidate.set_workload(runner.task.workload);
  candidate.set_signature(runner.key.second);
  candidate.set_config(config);
  candidate.set_nest_digest(nest_digest);
  return item;
}

void BuildStage::NeedSharedArtifacts(TaskRunner& runner) {
  if (runner.reference.state == SharedArtifact::State::kNone) {
    runner.reference.state = SharedArtifact::State::kBuilding;
    BuildItem item = NewItem(runner, BuildItem::Kind::kReference);
    item.request.set_target(loop_.parts.measurer->HostTarget(runner.task.target));
    item.request.mutable_reference()->set_workload(runner.task.workload);
    queue_.PushFront(std::move(item));
  }
  if (runner.anchor.state != SharedArtifact::State::kNone) return;
  const schedule::Config& standard = runner.context->default_config();
  const auto lowered = runner.context->Lower(standard);
  if (!lowered.ok()) {
    runner.anchor.state = SharedArtifact::State::kDone;  // its final will say what is wrong
    return;
  }
  runner.anchor.state = SharedArtifact::State::kBuilding;
  queue_.PushFront(
      NewItem(runner, BuildItem::Kind::kAnchor, standard.ToText(), lowered->nest_digest));
}

void BuildStage::BuildTrial(TaskRunner& runner, const Trial& trial) {
  if (const Artifact* kept = runner.kept.Find(trial.nest_digest)) {
    return events_.trial_built(runner, trial, *kept);
  }
  BuildItem item = NewItem(runner, BuildItem::Kind::kTrial, trial.config, trial.nest_digest);
  item.trial = trial.id;
  item.request.set_job(trial.job);
  queue_.PushBack(std::move(item));
}

bool BuildStage::BuildFinalists(TaskRunner& runner) {
  FinalRun& run = *runner.final_run;
  run.built.clear();
  run.failure.clear();
  run.building = 0;
  for (size_t i = run.finalists.size(); i-- > 0;) {
    const PlannedTrial& finalist = run.finalists[i];
    if (const Artifact* kept = runner.kept.Find(finalist.nest_digest)) {
      run.built[i] = *kept;
      continue;
    }
    ++run.building;
    BuildItem item =
        NewItem(runner, BuildItem::Kind::kFinalist, finalist.config.ToText(), finalist.nest_digest);
    item.trial = run.trial.id;
    item.request.set_job(run.trial.job);
    item.finalist = i;
    queue_.PushFront(std::move(item));
  }
  return run.building > 0;
}

void BuildStage::Dispatch() {
  while (queue_.open_batches() < loop_.options.build_batches) {
    const v1::BuildBatch batch = queue_.TakeBatch(loop_.options.batch, tasks_.IsServed());
    if (batch.requests().empty()) return;
    CrashPoint("tuner.build.before");
    loop_.parts.builder->Build(batch, [this](uint64_t id, absl::StatusOr<v1::BuildReply> reply) {
      loop_.parts.executor->Post(
          [this, id, reply = std::move(reply)]() mutable { OnBuilt(id, std::move(reply)); });
    });
    CrashPoint("tuner.build.after");
  }
}

// ---- what came of it ----

void BuildStage::OnBuilt(uint64_t id, absl::StatusOr<v1::BuildReply> reply) {
  std::optional<BuildItem> item = queue_.Answered(id);
  if (loop_.stopped) return;
  if (!item) return events_.changed();  // the builder takes more
  TaskRunner* runner = tasks_.Find(item->key);
  if (runner != nullptr && runner->IsWanted() && runner->failure.empty()) {
    KeepArtifact(*runner, item->request, reply);
    if (!reply.ok()) {
      OnBuilderFailed(*runner, *std::move(item), reply.status());
    } else if (item->kind == BuildItem::Kind::kReference) {
      OnReferenceBuilt(*runner, *reply);
    } else if (item->kind == BuildItem::Kind::kAnchor) {
      OnAnchorBuilt(*runner, *reply);
    } else if (item->kind == BuildItem::Kind::kTrial) {
      OnTrialBuilt(*runner, item->trial, *reply);
    } else if (runner->final_run && runner->final_run->trial.id == item->trial) {
      OnFinalistBuilt(*runner, item->finalist, *reply);
    }
  }
  events_.changed();
}

void BuildStage::KeepArtifact(TaskRunner& runner, const v1::BuildRequest& request,
                              const absl::StatusOr<v1::BuildReply>& reply) const {
  if (!reply.ok() || reply->outcome() != v1::BUILD_OUTCOME_OK || !request.has_candidate()) return;
  const int final_top = loop_.options.final_top;
  if (runner.kept.size() >= static_cast<size_t>(4 * final_top)) {
    std::set<std::string> wanted;
    for (const auto& [id, trial] : runner.open) wanted.insert(trial.nest_digest);
    for (const TaskHistory::Entry* entry : runner.history.Ranked()) {
      if (static_cast<int>(wanted.size()) >= 2 * final_top) break;
      wanted.insert(entry->trial.nest_digest);
    }
    runner.kept.KeepOnly(wanted);
  }
  runner.kept.Keep(request.candidate().nest_digest(), ToArtifact(*reply));
}

void BuildStage::OnBuilderFailed(TaskRunner& runner, BuildItem item, const absl::Status& status) {
  spdlog::warn("the builder failed: {}", status.ToString());
  if (++item.attempts < loop_.options.builder_attempts) {
    queue_.PushBack(std::move(item));
    return;
  }
  events_.task_failed(runner, fmt::format("the builder failed {} times: {}", item.attempts,
                                          std::string(status.message())));
}

void BuildStage::OnReferenceBuilt(TaskRunner& runner, const v1::BuildReply& reply) {
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) {
    events_.task_failed(
        runner,
        fmt::format("its reference for the output check cannot be built: {}", reply.message()));
    return;
  }
  runner.reference = {SharedArtifact::State::kDone, ToArtifact(reply)};
}

void BuildStage::OnAnchorBuilt(TaskRunner& runner, const v1::BuildReply& reply) {
  runner.anchor.state = SharedArtifact::State::kDone;
  if (reply.outcome() == v1::BUILD_OUTCOME_OK) {
    runner.anchor.artifact = ToArtifact(reply);
  } else {
    spdlog::warn("task {} {} is measured without an anchor, its default does not build: {}",
                 runner.key.first, runner.key.second, reply.message());
  }
}

void BuildStage::OnTrialBuilt(TaskRunner& runner, int64_t trial, const v1::BuildReply& reply) {
  const auto it = runner.open.find(trial);
  if (it == runner.open.end()) return;
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) {
    return events_.trial_failed(it->second, OutcomeOfBuild(reply.outcome()), reply.message(),
                                reply.toolchain());
  }
  events_.trial_built(runner, it->second, ToArtifact(reply));
}

void BuildStage::OnFinalistBuilt(TaskRunner& runner, size_t finalist, const v1::BuildReply& reply) {
  FinalRun& run = *runner.final_run;
  --run.building;
  if (reply.outcome() == v1::BUILD_OUTCOME_OK) {
    run.built[finalist] = ToArtifact(reply);
  } else if (finalist == 0) {
    run.failure = reply.message();
  } else {
    spdlog::warn("config {} leaves its final, it cannot be built: {}",
                 run.finalists[finalist].config.ToText(), reply.message());
  }
  if (run.building == 0) events_.finalists_built(runner);
}

}  // namespace hone::tuner
