// The store in a SQLite file. Each method is one transaction: of the commit queue, or of a reader.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "support/digest.h"
#include "support/file_system.h"
#include "support/status.h"
#include "tuning_db/sqlite/check.h"
#include "tuning_db/sqlite/commit_queue.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/database_file.h"
#include "tuning_db/sqlite/database_use.h"
#include "tuning_db/sqlite/lock_file.h"
#include "tuning_db/sqlite/reader_pool.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/schema.h"
#include "tuning_db/store.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db {
namespace {

using sqlite::Connection;

// What only the one writer has. Members go in reverse: the lock is let go last.
struct WriterParts {
  std::unique_ptr<sqlite::LockFile> lock;
  std::unique_ptr<Connection> db;
  sqlite::CommitQueue queue{db.get()};
};

class SqliteStore final : public Store {
 public:
  SqliteStore(const std::string& path, std::unique_ptr<sqlite::DatabaseUse> use, const Clock& clock,
              bool is_frozen)
      : path_(path), use_(std::move(use)), clock_(clock), readers_(path, is_frozen) {}

  void MakeWriter(std::unique_ptr<sqlite::LockFile> lock, std::unique_ptr<Connection> db) {
    writer_.reset(new WriterParts{std::move(lock), std::move(db)});
  }

  absl::StatusOr<int64_t> EnsureTask(const Task& task) override {
    // Mostly it is there, and a reader needs no sync.
    HONE_ASSIGN_OR_RETURN(const auto known, FindTask(task.workload_digest, task.target));
    if (known) return known->id;
    return Change<int64_t>("ensure_task",
                           [&](Connection& db) { return sqlite::EnsureTask(db, task); });
  }

  absl::StatusOr<Task> GetTask(int64_t id) override {
    return readers_.Read([&](Connection& db) { return sqlite::ReadTask(db, id); });
  }

  absl::StatusOr<std::optional<Task>> FindTask(const std::string& workload_digest,
                                               const std::string& target) override {
    return readers_.Read(
        [&](Connection& db) { return sqlite::FindTask(db, workload_digest, target); });
  }

  absl::StatusOr<std::vector<Task>> TasksOfWorkload(const std::string& workload_digest) override {
    return readers_.Read([&](Connection& db) { return sqlite::ReadTasks(db, workload_digest); });
  }

  absl::StatusOr<Job> SubmitJob(const Job& job) override {
    HONE_RETURN_IF_ERROR(IsWellFormed(job));
    return Change<Job>("submit_job", [&](Connection& db) -> absl::StatusOr<Job> {
      HONE_ASSIGN_OR_RETURN(std::optional<int64_t> id, sqlite::FindJob(db, job.client_id));
      if (!id) {
        HONE_ASSIGN_OR_RETURN(id, sqlite::InsertJob(db, job));
      }
      return sqlite::ReadJob(db, *id);
    });
  }

  absl::StatusOr<Job> GetJob(int64_t id) override {
    return readers_.Read([&](Connection& db) { return sqlite::ReadJob(db, id); });
  }

  absl::StatusOr<std::vector<Job>> ListJobs(int64_t after_id, int64_t limit) override {
    return readers_.Read([&](Connection& db) { return sqlite::ReadJobs(db, after_id, limit); });
  }

  absl::Status SetJobState(int64_t id, JobState state, const std::string& message) override {
    return Change("set_job_state", [&](Connection& db) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(const Job job, sqlite::ReadJob(db, id));
      HONE_RETURN_IF_ERROR(MaySetState(job, state));
      if (HasEnded(job.state)) return absl::OkStatus();
      HONE_RETURN_IF_ERROR(
          db.Run("UPDATE jobs SET state = ?, message = ? WHERE id = ?", state, message, id));
      return AddEvent(db, id, "state", StatePayload(state, message)).status();
    });
  }

  absl::Status SetJobRan(int64_t id, int64_t ran_ns) override {
    return Change("set_job_ran", [&](Connection& db) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(const Job job, sqlite::ReadJob(db, id));
      HONE_RETURN_IF_ERROR(MaySetRan(job));
      return db.Run("UPDATE jobs SET ran_ns = ? WHERE id = ?", ran_ns, id);
    });
  }

  absl::StatusOr<int64_t> AppendEvent(int64_t job, const std::string& kind,
                                      const std::string& payload) override {
    return Change<int64_t>("append_event", [&](Connection& db) -> absl::StatusOr<int64_t> {
      HONE_RETURN_IF_ERROR(sqlite::Require(db, "jobs", "job", job));
      return AddEvent(db, job, kind, payload);
    });
  }

  absl::StatusOr<std::vector<Event>> ListEvents(int64_t job, int64_t after_seq,
                                                int64_t limit) override {
    return readers_.Read([&](Connection& db) -> absl::StatusOr<std::vector<Event>> {
      HONE_RETURN_IF_ERROR(sqlite::Require(db, "jobs", "job", job));
      return sqlite::ReadEvents(db, job, after_seq, limit);
    });
  }

  absl::StatusOr<std::vector<Trial>> Propose(const std::vector<Trial>& trials) override {
    using Rows = std::vector<Trial>;
    return Change<Rows>("propose", [&](Connection& db) -> absl::StatusOr<Rows> {
      Rows rows;
      for (const Trial& trial : trials) {
        HONE_ASSIGN_OR_RETURN(rows.emplace_back(), sqlite::EnsureTrial(db, trial));
      }
      return rows;
    });
  }

  absl::StatusOr<Trial> Lease(int64_t id, const std::string& worker) override {
    return Change<Trial>("lease", [&](Connection& db) -> absl::StatusOr<Trial> {
      HONE_ASSIGN_OR_RETURN(Trial trial, sqlite::ReadTrial(db, id));
      HONE_RETURN_IF_ERROR(MayLease(trial));
      HONE_RETURN_IF_ERROR(LeaseTo(db, trial, worker));
      return trial;
    });
  }

  absl::Status Release(int64_t id, int64_t fence) override {
    return Change("release", [&](Connection& db) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(Trial trial, sqlite::ReadTrial(db, id));
      HONE_RETURN_IF_ERROR(MayRelease(trial, fence));
      trial.state = TrialState::kProposed;
      return sqlite::UpdateTrial(db, trial);
    });
  }

  absl::StatusOr<SettleResult> Settle(int64_t fence, const Record& record) override {
    return Change<SettleResult>("settle", [&](Connection& db) -> absl::StatusOr<SettleResult> {
      HONE_ASSIGN_OR_RETURN(Trial trial, sqlite::ReadTrial(db, record.trial));
      const SettleResult result = JudgeSettle(trial, fence);
      if (result != SettleResult::kSettled) return result;
      HONE_RETURN_IF_ERROR(SettleWith(db, trial, record));
      return result;
    });
  }

  absl::StatusOr<SettleResult> SettleFinal(int64_t fence, const Record& record,
                                           const Final& final) override {
    HONE_RETURN_IF_ERROR(IsWellFormed(final));
    using Result = SettleResult;
    return Change<Result>("settle_final", [&](Connection& db) -> absl::StatusOr<Result> {
      HONE_ASSIGN_OR_RETURN(Trial trial, sqlite::ReadTrial(db, record.trial));
      HONE_RETURN_IF_ERROR(IsFinalOf(final, trial, record));
      const SettleResult result = JudgeSettle(trial, fence);
      if (result != SettleResult::kSettled) return result;
      HONE_RETURN_IF_ERROR(SettleWith(db, trial, record));
      HONE_RETURN_IF_ERROR(PushFinal(db, final).status());
      return result;
    });
  }

  absl::StatusOr<SettleResult> Import(const Trial& trial, const Record& record) override {
    return Change<SettleResult>("import", [&](Connection& db) -> absl::StatusOr<SettleResult> {
      HONE_ASSIGN_OR_RETURN(const auto known, sqlite::FindTrial(db, trial));
      if (known) return SettleResult::kDuplicate;
      HONE_ASSIGN_OR_RETURN(Trial row, sqlite::EnsureTrial(db, trial));
      HONE_RETURN_IF_ERROR(LeaseTo(db, row, kImporter));
      HONE_RETURN_IF_ERROR(SettleWith(db, row, record));
      return SettleResult::kSettled;
    });
  }

  absl::StatusOr<std::vector<Trial>> OpenTrials(int64_t job) override {
    return readers_.Read([&](Connection& db) { return sqlite::ReadOpenTrials(db, job); });
  }

  absl::StatusOr<int64_t> CountTrials(int64_t task, const std::string& signature,
                                      Purpose purpose) override {
    return readers_.Read([&](Connection& db) -> absl::StatusOr<int64_t> {
      HONE_ASSIGN_OR_RETURN(
          const auto count,
          db.Integer("SELECT COUNT(*) FROM trials WHERE task = ? AND purpose = ? AND "
                     "signature = (SELECT id FROM texts WHERE digest = ?)",
                     task, purpose, Sha256Hex(signature)));
      return count.value_or(0);
    });
  }

  absl::StatusOr<std::vector<Record>> Records(const RecordFilter& filter) override {
    return readers_.Read([&](Connection& db) { return sqlite::ReadRecords(db, filter); });
  }

  absl::StatusOr<int64_t> AddFinal(const Final& final) override {
    HONE_RETURN_IF_ERROR(IsWellFormed(final));
    return Change<int64_t>("add_final", [&](Connection& db) { return PushFinal(db, final); });
  }

  absl::StatusOr<std::optional<Final>> NewestFinal(int64_t task,
                                                   const std::string& signature) override {
    return readers_.Read(
        [&](Connection& db) { return sqlite::ReadNewestFinal(db, task, signature); });
  }

  absl::StatusOr<int64_t> AddModelFinal(const ModelFinal& final) override {
    HONE_RETURN_IF_ERROR(IsWellFormed(final));
    return Change<int64_t>("add_model_final",
                           [&](Connection& db) { return sqlite::InsertModelFinal(db, final); });
  }

  absl::StatusOr<std::optional<ModelFinal>> NewestModelFinal(const std::string& skeleton,
                                                             const std::string& target) override {
    return readers_.Read(
        [&](Connection& db) { return sqlite::ReadNewestModelFinal(db, skeleton, target); });
  }

  absl::Status RecordMiss(const Miss& miss) override {
    return Change("record_miss", [&](Connection& db) { return sqlite::CountMiss(db, miss); });
  }

  absl::StatusOr<std::vector<Miss>> ListMisses(const std::string& target) override {
    return readers_.Read([&](Connection& db) { return sqlite::ReadMisses(db, target); });
  }

  absl::StatusOr<std::vector<std::string>> Check() override {
    return readers_.Read([](Connection& db) { return sqlite::CheckDatabase(db); });
  }

 private:
  absl::Status Change(std::string_view name, const sqlite::CommitQueue::Change& change) {
    if (writer_ != nullptr) return writer_->queue.Commit(name, change);
    return absl::FailedPreconditionError(
        fmt::format("{} was opened for reading only and cannot be changed", path_));
  }

  template <typename Answer, typename Body>
  absl::StatusOr<Answer> Change(std::string_view name, const Body& body) {
    absl::StatusOr<Answer> answer = absl::UnknownError("not run");
    HONE_RETURN_IF_ERROR(Change(name, [&](Connection& db) {
      answer = body(db);
      return answer.status();
    }));
    return answer;
  }

  static absl::Status LeaseTo(Connection& db, Trial& trial, const std::string& worker) {
    trial.state = TrialState::kLeased;
    trial.attempt += 1;
    trial.worker = worker;
    HONE_ASSIGN_OR_RETURN(trial.fence, sqlite::NextFence(db));
    return sqlite::UpdateTrial(db, trial);
  }

  absl::Status SettleWith(Connection& db, Trial& trial, Record record) {
    trial.state = TrialState::kSettled;
    record.trial = trial.id;
    HONE_RETURN_IF_ERROR(sqlite::UpdateTrial(db, trial));
    HONE_RETURN_IF_ERROR(sqlite::InsertRecord(db, record));
    if (trial.job == 0) return absl::OkStatus();
    return AddEvent(db, trial.job, "trial_settled", SettledPayload(trial, record)).status();
  }

  absl::StatusOr<int64_t> PushFinal(Connection& db, const Final& final) {
    HONE_ASSIGN_OR_RETURN(const int64_t id, sqlite::InsertFinal(db, final));
    if (final.job == 0) return id;
    HONE_RETURN_IF_ERROR(AddEvent(db, final.job, "final", FinalPayload(id, final)).status());
    return id;
  }

  absl::StatusOr<int64_t> AddEvent(Connection& db, int64_t job, const std::string& kind,
                                   const std::string& payload) {
    return sqlite::InsertEvent(db, {job, 0, kind, payload, clock_.WallTimeNs()});
  }

  const std::string path_;
  const std::unique_ptr<sqlite::DatabaseUse> use_;  // outlives the connections
  const Clock& clock_;
  std::unique_ptr<WriterParts> writer_;  // null: read only
  sqlite::ReaderPool readers_;           // closed before the writer, which checkpoints last
};

std::string LockPath(const std::string& path) { return path + ".lock"; }

absl::Status MakeParentFolders(const std::string& path) {
  std::error_code error;
  const auto folder = std::filesystem::absolute(path, error).parent_path();
  std::filesystem::create_directories(folder, error);
  return error ? ErrnoStatus(error.value(), "make the folder", folder.string()) : absl::OkStatus();
}

// Read-only: opens once, so that errors show now, and holds the version to ours.
absl::Status CheckReadable(const std::string& path, sqlite::Access access) {
  HONE_ASSIGN_OR_RETURN(const auto db, Connection::Open(path, access));
  HONE_ASSIGN_OR_RETURN(const int version, sqlite::VersionOf(*db));
  if (version > sqlite::NewestVersion()) return sqlite::NewerVersion(path, version);
  if (version == sqlite::NewestVersion()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} has schema version {}, which this Hone reads only after a migration to {}: "
                  "run `hone db migrate --db {}`",
                  path, version, sqlite::NewestVersion(), path));
}

absl::StatusOr<std::unique_ptr<Store>> OpenToRead(const std::string& path,
                                                  std::unique_ptr<sqlite::DatabaseUse> use,
                                                  const Clock& clock) {
  absl::Status status = CheckReadable(path, sqlite::Access::kRead);
  bool is_frozen = false;
  if (!status.ok() && sqlite::IsQuiet(path)) {
    // In a folder that we may not write, SQLite cannot make the FILE-shm that it reads with.
    is_frozen = CheckReadable(path, sqlite::Access::kFrozen).ok();
    if (is_frozen) status = absl::OkStatus();
  }
  HONE_RETURN_IF_ERROR(status);
  return std::make_unique<SqliteStore>(path, std::move(use), clock, is_frozen);
}

absl::Status RequireWritable(const std::string& path) {
  return access(path.c_str(), W_OK) == 0 ? absl::OkStatus()
                                         : ErrnoStatus(errno, "write the tuning database", path);
}

// Looks at the version through a reader: a writer's close would move a newer Hone's log into the
// file.
absl::Status RefuseNewerVersion(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const auto db, Connection::Open(path, sqlite::Access::kRead));
  HONE_ASSIGN_OR_RETURN(const int version, sqlite::VersionOf(*db));
  return version > sqlite::NewestVersion() ? sqlite::NewerVersion(path, version) : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Connection>> OpenForWriting(const std::string& path) {
  HONE_RETURN_IF_ERROR(RefuseNewerVersion(path));
  HONE_ASSIGN_OR_RETURN(auto db, Connection::Open(path, sqlite::Access::kWrite));
  HONE_RETURN_IF_ERROR(sqlite::Migrate(*db));
  return db;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& given, OpenMode mode,
                                                       const Writer& self, const Clock& clock) {
  if (mode == OpenMode::kCreate) HONE_RETURN_IF_ERROR(MakeParentFolders(given));
  HONE_ASSIGN_OR_RETURN(const std::string path, sqlite::CanonicalPath(given));
  HONE_RETURN_IF_ERROR(sqlite::RefuseNetworkFileSystem(path));
  auto use = sqlite::DatabaseUse::Begin(path);
  const bool is_new = mode == OpenMode::kCreate && absl::IsNotFound(use.status());
  if (!is_new) HONE_RETURN_IF_ERROR(use.status());
  if (mode == OpenMode::kReadOnly) return OpenToRead(path, *std::move(use), clock);

  if (!is_new) HONE_RETURN_IF_ERROR(RequireWritable(path));
  HONE_ASSIGN_OR_RETURN(auto lock, sqlite::LockFile::Take(LockPath(path), self));
  if (is_new) {
    // Another may have made it while we had no lock.
    if (!std::filesystem::exists(path)) HONE_RETURN_IF_ERROR(sqlite::CreateDatabaseFile(path));
    use = sqlite::DatabaseUse::Begin(path);
    HONE_RETURN_IF_ERROR(use.status());
  }
  HONE_ASSIGN_OR_RETURN(auto db, OpenForWriting(path));
  auto store = std::make_unique<SqliteStore>(path, *std::move(use), clock, /*is_frozen=*/false);
  store->MakeWriter(std::move(lock), std::move(db));
  return store;
}

std::string DefaultPath() {
  const char* data_home = std::getenv("XDG_DATA_HOME");
  if (data_home != nullptr && data_home[0] == '/') return std::string(data_home) + "/hone/hone.db";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "") + "/.local/share/hone/hone.db";
}

bool IsService(const Writer& writer) { return !writer.address.empty() && writer.client == 0; }

std::string Describe(const Writer& writer) {
  if (writer.client != 0) return fmt::format("a `hone tune` (process {})", writer.client);
  if (!writer.address.empty()) return writer.address;
  return writer.pid != 0 ? fmt::format("process {}", writer.pid) : "another process";
}

absl::StatusOr<std::optional<Writer>> WriterOf(const std::string& path) {
  const absl::StatusOr<std::string> canonical = sqlite::CanonicalPath(path);
  if (absl::IsNotFound(canonical.status())) return std::nullopt;
  HONE_RETURN_IF_ERROR(canonical.status());
  return sqlite::LockFile::HolderOf(LockPath(*canonical));
}

}  // namespace hone::tuning_db
