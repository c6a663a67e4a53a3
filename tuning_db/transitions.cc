#include "tuning_db/transitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tuning_db/well_formed.h"

namespace hone::tuning_db {
namespace {

// Messages of workers may hold any bytes; an event must be JSON all the same.
std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::Status MayWrite(int64_t job, JobState state, const Ownership& of_job,
                      const Ownership& ownership, JobWrite what) {
  if (ownership.epoch == 0 || HasEnded(state)) return absl::OkStatus();
  const bool runs = state == JobState::kRunning;
  if (what == JobWrite::kLease && !runs) return absl::OkStatus();
  if (ownership.epoch == of_job.epoch) {
    if (what != JobWrite::kProposal || runs) return absl::OkStatus();
    return absl::FailedPreconditionError(
        fmt::format("job {} is {}, and nothing is proposed for it", job, Name(state)));
  }
  return absl::AbortedError(
      fmt::format("job {} is of {} in its epoch {} by now, and no longer of {} in its epoch {}",
                  job, of_job.owner, of_job.epoch, ownership.owner, ownership.epoch));
}

absl::Status MayBegin(const std::string& owner) {
  if (!owner.empty()) return IsText("an owner's name", owner);
  return absl::InvalidArgumentError("an owner of jobs needs a name");
}

absl::Status NewerLife(const Ownership& ownership) {
  return absl::AbortedError(
      fmt::format("{} in its epoch {} owns nothing: a newer life of it has begun", ownership.owner,
                  ownership.epoch));
}

bool MayTake(int64_t left_ns, int64_t lease_ns) {
  return left_ns >= std::max<int64_t>(0, lease_ns / 3);
}

absl::Status IsSameRequest(const Job& known, const Job& asked) {
  if (!known.submitter.empty() && !asked.submitter.empty() && known.submitter != asked.submitter) {
    return absl::AlreadyExistsError(
        fmt::format("the client id \"{}\" is that of job {}, which is {}'s; choose another one",
                    known.client_id, known.id, known.submitter));
  }
  if (known.request_digest.empty() || asked.request_digest.empty() ||
      known.request_digest == asked.request_digest) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(fmt::format(
      "the client id \"{}\" is that of job {}, for which something else was asked: expected the "
      "same model and flags again, or another client id",
      known.client_id, known.id));
}

absl::Status MaySetState(const Job& job, JobState to) {
  // Who starts a job may have read that it is queued before somebody paused it.
  if (job.state == JobState::kPaused && to == JobState::kRunning) {
    return absl::FailedPreconditionError(fmt::format("job {} is paused; resume it first", job.id));
  }
  if (!HasEnded(job.state) || job.state == to) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("job {} has ended ({}) and cannot become {}; submit a new job", job.id,
                  Name(job.state), Name(to)));
}

absl::Status MayHappen(const Job& job) {
  if (!HasEnded(job.state)) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "job {} has ended ({}), and nothing happens to it any more", job.id, Name(job.state)));
}

bool IsProgress(Purpose purpose, Outcome outcome) {
  return IsProposed(purpose) && outcome != Outcome::kCancelled;
}

absl::Status MayRetract(int64_t record, const std::string& reason) {
  if (!reason.empty()) return IsText("a reason", reason);
  return absl::InvalidArgumentError(
      fmt::format("record {} is retracted for a reason only; say why", record));
}

bool Matches(const Job& job, const JobFilter& filter) {
  return (filter.states.empty() ||
          std::ranges::find(filter.states, job.state) != filter.states.end()) &&
         (filter.submitter.empty() || filter.submitter == job.submitter) &&
         job.target.find(filter.target) != std::string::npos &&
         job.model.find(filter.model) != std::string::npos &&
         job.submitted_at_ns >= filter.submitted_since_ns;
}

absl::Status MaySetRan(const Job& job) {
  if (job.state == JobState::kRunning) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("job {} is {} and spends no running time", job.id, Name(job.state)));
}

absl::Status MayLease(const Trial& trial) {
  if (trial.state != TrialState::kSettled) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("trial {} is settled and cannot be leased again", trial.id));
}

absl::Status MayRelease(const Trial& trial, int64_t fence) {
  if (trial.fence == fence && fence != 0 && trial.state != TrialState::kSettled) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      fmt::format("trial {} is {} under fence {} and cannot be released under fence {}", trial.id,
                  Name(trial.state), trial.fence, fence));
}

Trial Proposed(Trial trial) {
  trial.state = TrialState::kProposed;
  trial.attempt = 0;
  trial.fence = 0;
  trial.worker.clear();
  trial.strikes = 0;
  trial.device.clear();
  trial.limit_ns = 0;
  trial.assigned = {};
  return trial;
}

void LeaseAs(const LeaseRequest& request, int64_t fence, Trial& trial) {
  trial.state = TrialState::kLeased;
  trial.attempt += 1;
  trial.fence = fence;
  trial.worker = request.worker;
  trial.device = request.device;
  trial.limit_ns = request.limit_ns;
  trial.assigned = request.assigned;
}

namespace {

// What a trial is only while it is leased.
void EndLease(Trial& trial, TrialState state) {
  trial.state = state;
  trial.device.clear();
  trial.limit_ns = 0;
  trial.assigned = {};
}

}  // namespace

void ReleaseAs(const ReleaseRequest& request, Trial& trial) {
  if (trial.state != TrialState::kLeased) return;  // it was released before
  EndLease(trial, TrialState::kProposed);
  trial.strikes += request.is_strike ? 1 : 0;
}

void SettleAs(Trial& trial) { EndLease(trial, TrialState::kSettled); }

SettleResult JudgeSettle(const Trial& trial, int64_t fence) {
  if (trial.fence != fence || fence == 0) return SettleResult::kRefused;
  switch (trial.state) {
    case TrialState::kSettled:
      return SettleResult::kDuplicate;
    case TrialState::kLeased:
      return SettleResult::kSettled;
    case TrialState::kProposed:  // released: whoever holds the old fence is too late
      return SettleResult::kRefused;
  }
  return SettleResult::kRefused;
}

absl::Status IsFinalOf(const Final& final, const Trial& trial, const Record& record) {
  if (trial.purpose != Purpose::kConfirm || record.outcome != Outcome::kOk) {
    return absl::InvalidArgumentError(
        fmt::format("trial {} ({}, {}) settles no final: only a confirm trial that succeeded does",
                    trial.id, Name(trial.purpose), Name(record.outcome)));
  }
  if (final.task == trial.task && final.signature == trial.signature) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("the final is of task {} with {}, its confirm trial {} of task {} with {}",
                  final.task, final.signature, trial.id, trial.task, trial.signature));
}

Final WonIn(Final final, int64_t record) {
  final.record = record;
  return final;
}

absl::Status NoSuch(const std::string& what, int64_t id) {
  return absl::NotFoundError(fmt::format("there is no {} {} in the tuning database", what, id));
}

std::string StatePayload(JobState state, const std::string& message) {
  return Dump({{"state", std::string(Name(state))}, {"message", message}});
}

std::string SettledPayload(const Trial& trial, const Record& record) {
  return Dump({{"trial", trial.id},
               {"task", trial.task},
               {"signature", trial.signature},
               {"config", trial.config},
               {"purpose", std::string(Name(trial.purpose))},
               {"outcome", std::string(Name(record.outcome))},
               {"message", record.message},
               {"median_ns", record.median_ns},
               {"anchor_ns", record.anchor_ns},
               {"worker", record.worker}});
}

std::string FinalPayload(int64_t id, const Final& final) {
  const FinalEntry& winner = final.entries[static_cast<size_t>(final.winner)];
  const FinalEntry& standard = final.entries[static_cast<size_t>(final.default_entry)];
  return Dump({{"final", id},
               {"task", final.task},
               {"signature", final.signature},
               {"config", winner.config},
               {"distinct_trials", final.distinct_trials},
               {"best_ns", winner.median_ns},
               {"default_ns", standard.median_ns},
               {"ratio_to_default", winner.ratio_to_default}});
}

}  // namespace hone::tuning_db
