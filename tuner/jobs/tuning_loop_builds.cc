// What is built: references and anchors once, then trials, then finalists.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "support/crash_point.h"
#include "support/digest.h"
#include "tuner/jobs/tuning_loop.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::Outcome;
using tuning_db::Trial;

namespace {

Outcome ToOutcome(v1::BuildOutcome outcome) {
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

BuildItem TuningLoop::NewBuild(const TaskRunner& runner, BuildItem::Kind kind) const {
  BuildItem item;
  item.kind = kind;
  item.key = runner.key;
  item.request.set_target(runner.task.target);
  item.request.set_limit_ns(options_.build_limit_ns);
  return item;
}

BuildItem TuningLoop::NewBuild(const TaskRunner& runner, BuildItem::Kind kind,
                               const std::string& config, const std::string& nest_digest) const {
  BuildItem item = NewBuild(runner, kind);
  v1::BuildCandidate& candidate = *item.request.mutable_candidate();
  candidate.set_workload(runner.task.workload);
  candidate.set_signature(runner.key.second);
  candidate.set_config(config);
  candidate.set_nest_digest(nest_digest);
  return item;
}

void TuningLoop::NeedSharedArtifacts(TaskRunner& runner) {
  if (runner.reference.state == SharedArtifact::State::kNone) {
    runner.reference.state = SharedArtifact::State::kBuilding;
    BuildItem item = NewBuild(runner, BuildItem::Kind::kReference);
    item.request.set_target(parts_.measurer->HostTarget(runner.task.target));
    item.request.mutable_reference()->set_workload(runner.task.workload);
    builds_.PushFront(std::move(item));
  }
  if (runner.anchor.state != SharedArtifact::State::kNone) return;
  const schedule::Config& standard = runner.context->default_config();
  const auto lowered = runner.context->Lower(standard);
  if (!lowered.ok()) {
    runner.anchor.state = SharedArtifact::State::kDone;  // its final will say what is wrong
    return;
  }
  runner.anchor.state = SharedArtifact::State::kBuilding;
  builds_.PushFront(
      NewBuild(runner, BuildItem::Kind::kAnchor, standard.ToText(), lowered->nest_digest));
}

void TuningLoop::QueueBuild(TaskRunner& runner, const Trial& trial) {
  if (const Artifact* kept = runner.kept.Find(trial.nest_digest)) {
    to_measure_.push_back({runner.key, trial, *kept});
    return;
  }
  BuildItem item = NewBuild(runner, BuildItem::Kind::kTrial, trial.config, trial.nest_digest);
  item.trial = trial.id;
  builds_.PushBack(std::move(item));
}

bool TuningLoop::BuildersRest() const {
  if (Alternates()) return measure_phase_ || IsMeasuring();
  return options_.local_cores > 0 &&
         std::any_of(runners_.begin(), runners_.end(), [](const auto& item) {
           return item.second->is_served && item.second->IsMeasuringFinal();
         });
}

void TuningLoop::DispatchBuilds() {
  while (!BuildersRest() && builds_.open_batches() < options_.build_batches) {
    const v1::BuildBatch batch = builds_.TakeBatch(options_.batch, IsServed());
    if (batch.requests().empty()) return;
    CrashPoint("tuner.build.before");
    parts_.builder->Build(batch, [this](uint64_t id, absl::StatusOr<v1::BuildReply> reply) {
      parts_.executor->Post(
          [this, id, reply = std::move(reply)]() mutable { OnBuilt(id, std::move(reply)); });
    });
    CrashPoint("tuner.build.after");
  }
}

void TuningLoop::OnBuilt(uint64_t id, absl::StatusOr<v1::BuildReply> reply) {
  std::optional<BuildItem> item = builds_.Answered(id);
  if (!item || stopped_) return;
  TaskRunner* runner = Find(item->key);
  if (runner != nullptr && runner->failure.empty()) {
    KeepArtifact(*runner, item->request, reply);
    if (!reply.ok()) {
      OnBuilderFailed(*std::move(item), reply.status());
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
  Pump();
}

void TuningLoop::KeepArtifact(TaskRunner& runner, const v1::BuildRequest& request,
                              const absl::StatusOr<v1::BuildReply>& reply) {
  if (!reply.ok() || reply->outcome() != v1::BUILD_OUTCOME_OK || !request.has_candidate()) return;
  if (runner.kept.size() >= static_cast<size_t>(4 * options_.final_top)) {
    std::set<std::string> wanted;
    for (const auto& [id, trial] : runner.open) wanted.insert(trial.nest_digest);
    for (const TaskHistory::Entry* entry : runner.history.Ranked()) {
      if (static_cast<int>(wanted.size()) >= 2 * options_.final_top) break;
      wanted.insert(entry->trial.nest_digest);
    }
    runner.kept.KeepOnly(wanted);
  }
  runner.kept.Keep(request.candidate().nest_digest(), ToArtifact(*reply));
}

void TuningLoop::OnBuilderFailed(BuildItem item, const absl::Status& status) {
  spdlog::warn("the builder failed: {}", status.ToString());
  if (++item.attempts < options_.builder_attempts) {
    builds_.PushBack(std::move(item));
    return;
  }
  FailTask(*Find(item.key), fmt::format("the builder failed {} times: {}", item.attempts,
                                        std::string(status.message())));
}

void TuningLoop::OnReferenceBuilt(TaskRunner& runner, const v1::BuildReply& reply) {
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) {
    FailTask(runner, fmt::format("its reference for the output check cannot be built: {}",
                                 reply.message()));
    return;
  }
  runner.reference = {SharedArtifact::State::kDone, ToArtifact(reply)};
}

void TuningLoop::OnAnchorBuilt(TaskRunner& runner, const v1::BuildReply& reply) {
  runner.anchor.state = SharedArtifact::State::kDone;
  if (reply.outcome() == v1::BUILD_OUTCOME_OK) {
    runner.anchor.artifact = ToArtifact(reply);
  } else {
    spdlog::warn("task {} {} is measured without an anchor, its default does not build: {}",
                 runner.key.first, runner.key.second, reply.message());
  }
}

void TuningLoop::OnTrialBuilt(TaskRunner& runner, int64_t trial, const v1::BuildReply& reply) {
  const auto it = runner.open.find(trial);
  if (it == runner.open.end()) return;
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) {
    const absl::Status settled =
        SettleFailure(it->second, ToOutcome(reply.outcome()), reply.message(), reply.toolchain());
    if (!settled.ok()) Fatal(settled);
    return;
  }
  CrashPoint("tuner.artifact.before");
  to_measure_.push_back({runner.key, it->second, ToArtifact(reply)});
  CrashPoint("tuner.artifact.after");
}

void TuningLoop::OnFinalistBuilt(TaskRunner& runner, size_t finalist, const v1::BuildReply& reply) {
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
  if (run.building > 0) return;
  OnFinalistsBuilt(runner);
}

void TuningLoop::OnFinalistsBuilt(TaskRunner& runner) {
  FinalRun& run = *runner.final_run;
  if (!run.failure.empty()) {
    EndFinal(runner, Outcome::kBuildError,
             fmt::format("the default config cannot be built: {}", run.failure));
    return;
  }
  to_measure_.push_back({runner.key, run.trial, {}});
}

}  // namespace hone::tuner
