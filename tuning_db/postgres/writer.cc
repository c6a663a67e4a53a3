#include "tuning_db/postgres/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "support/status.h"
#include "tuning_db/postgres/schema.h"

namespace hone::tuning_db::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstPause(20);
constexpr milliseconds kLongestPause(250);
// A batch that waits when its owner goes away is not worth more.
constexpr int64_t kClosingPatienceNs = 5'000'000'000;

int64_t RandomId() {
  std::random_device random;
  return static_cast<int64_t>(uint64_t{random()} << 32 | random());
}

}  // namespace

Writer::Writer(std::string address, std::unique_ptr<Connection> db, size_t most_waiting,
               int64_t patience_ns)
    : address_(std::move(address)),
      id_(RandomId()),
      patience_ns_(patience_ns),
      db_(std::move(db)),
      changes_(most_waiting, [this](const Steps& steps) { RunBatch(steps); }) {}

// Savepoints are two round trips more a step, and seldom needed. With them one transaction is
// enough however many steps are refused.
void Writer::RunBatch(const Steps& steps) {
  changes_.PassCrashPoints(steps, "before");
  if (RunSteps(steps, Refusal::kOfBatch) == Attempt::kRefused && steps.size() > 1) {
    RunSteps(steps, Refusal::kOfStep);
  }
  changes_.PassCrashPoints(steps, "after_commit");
}

Writer::Attempt Writer::RunSteps(const Steps& steps, Refusal refusal) {
  const auto begin = steady_clock::now();
  milliseconds pause = kFirstPause;
  Attempt attempt = TryOnce(steps, refusal);
  while (attempt == Attempt::kPassing || attempt == Attempt::kUnknown) {
    if (IsPatienceOver(begin)) break;
    changes_.Pause(pause);  // nothing can be done but to wait
    pause = std::min(2 * pause, kLongestPause);
    if (attempt == Attempt::kUnknown) attempt = LookUp();
    if (attempt == Attempt::kPassing) attempt = TryOnce(steps, refusal);
  }
  if (attempt == Attempt::kCommitted || attempt == Attempt::kRefused) {
    in_trouble_since_.reset();
    return attempt;
  }
  const char* what = attempt == Attempt::kUnknown
                         ? "whether the change is stored is not known, the tuning database did not "
                           "come back: "
                         : "the change is not stored: ";
  for (const Step& step : steps) {
    *step.status = absl::UnavailableError(what + std::string(trouble_.message()));
  }
  return attempt;
}

bool Writer::IsPatienceOver(steady_clock::time_point begin) {
  if (!in_trouble_since_) in_trouble_since_ = begin;
  const int64_t patience_ns =
      changes_.IsClosing() ? std::min(patience_ns_, kClosingPatienceNs) : patience_ns_;
  return steady_clock::now() - *in_trouble_since_ > std::chrono::nanoseconds(patience_ns);
}

absl::Status Writer::Reach() {
  if (db_ != nullptr) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(db_, Connection::Open(address_));
  return absl::OkStatus();
}

Writer::Attempt Writer::TryOnce(const Steps& steps, Refusal refusal) {
  for (const Step& step : steps) *step.status = absl::OkStatus();
  trouble_ = Reach();
  if (!trouble_.ok()) return Attempt::kPassing;
  ++number_;
  db_->ForgetFailure();
  trouble_ = Begin();
  if (trouble_.ok()) trouble_ = RunEach(steps, refusal);
  bool is_committing = false;
  if (trouble_.ok()) {
    changes_.PassCrashPoints(steps, "before_commit");
    is_committing = true;
    trouble_ = db_->Execute("COMMIT");
    if (trouble_.ok()) return Attempt::kCommitted;
  }
  const Failure failure = db_->failure();
  if (failure == Failure::kLost) {
    db_.reset();
    return is_committing ? Attempt::kUnknown : Attempt::kPassing;
  }
  db_->ForgetTexts();
  if (!db_->Execute("ROLLBACK").ok()) db_.reset();
  if (failure == Failure::kPassing) return Attempt::kPassing;
  for (const Step& step : steps) {
    if (step.status->ok()) *step.status = trouble_;
  }
  return Attempt::kRefused;
}

// Takes the lock and leaves the batch's number. A daemon that was left behind by a migration writes
// nothing.
absl::Status Writer::Begin() {
  HONE_RETURN_IF_ERROR(db_->Execute(fmt::format(
      "BEGIN ISOLATION LEVEL READ COMMITTED; {}; INSERT INTO writers SELECT {}, {}, now() FROM "
      "schema_version WHERE version = {} ON CONFLICT (id) DO UPDATE SET "
      "batch = excluded.batch, written_at = excluded.written_at",
      kLockWriters, id_, number_, NewestVersion())));
  if (db_->changed_rows() == 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the tuning database was brought to a newer version while this Hone had it open; update it "
      "and start it again");
}

// An error where the transaction cannot be committed. What a step answers that has changed nothing
// is its own affair.
absl::Status Writer::RunEach(const Steps& steps, Refusal refusal) {
  for (const Step& step : steps) {
    if (refusal == Refusal::kOfStep) {
      HONE_RETURN_IF_ERROR(RunAlone(step));
      continue;
    }
    db_->ForgetChanges();
    *step.status = step.change->run(*db_);
    if (step.status->ok()) continue;
    if (db_->failure() != Failure::kNone || db_->has_changed()) return *step.status;
  }
  return absl::OkStatus();
}

absl::Status Writer::RunAlone(const Step& step) {
  HONE_RETURN_IF_ERROR(db_->Execute("SAVEPOINT change"));
  *step.status = step.change->run(*db_);
  if (step.status->ok()) return db_->Execute("RELEASE SAVEPOINT change");
  if (db_->failure() != Failure::kNone && db_->failure() != Failure::kRefused) return *step.status;
  db_->ForgetFailure();
  db_->ForgetTexts();
  return db_->Execute("ROLLBACK TO SAVEPOINT change; RELEASE SAVEPOINT change");
}

// The lock is free once the transaction is over, and then its number is there or never will be.
Writer::Attempt Writer::LookUp() {
  trouble_ = Reach();
  if (!trouble_.ok()) return Attempt::kUnknown;
  trouble_ = db_->Execute(fmt::format("BEGIN ISOLATION LEVEL READ COMMITTED; {}", kLockWriters));
  if (trouble_.ok()) {
    const auto stored = db_->Integer("SELECT batch FROM writers WHERE id = $1", id_);
    trouble_ = stored.status();
    if (trouble_.ok()) trouble_ = db_->Execute("ROLLBACK");
    if (trouble_.ok()) {
      return stored->value_or(0) == number_ ? Attempt::kCommitted : Attempt::kPassing;
    }
  }
  db_.reset();
  return Attempt::kUnknown;
}

}  // namespace hone::tuning_db::postgres
