// The tuning database. One contract, several stores (memory, SQLite), one conformance suite
// (tests/tuning_db/conformance.h).
#ifndef HONE_TUNING_DB_STORE_H_
#define HONE_TUNING_DB_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/clock.h"
#include "tuning_db/model_final.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

struct RecordFilter {
  std::optional<int64_t> task = std::nullopt;
  std::optional<std::string> signature = std::nullopt;
  std::optional<int64_t> job = std::nullopt;
  std::optional<Purpose> purpose = std::nullopt;
  std::string target = "";              // empty: any
  std::string workload_substring = "";  // empty: any
  int64_t after_id = 0;                 // records with greater ids, in the order of ids
  int64_t limit = 0;                    // 0: all
  bool newest_first = false;            // then after_id is an upper bound (0: none)
};

enum class SettleResult {
  kSettled,    // this call settled the trial
  kDuplicate,  // it was settled before, under this fence: acknowledge likewise
  kRefused,    // late or foreign fence: the result is dropped
};

// Thread-safe. Every mutation is one transaction, durable when it returns; a crash between any two
// instructions leaves the state before or after it. Errors: kNotFound for an unknown id,
// kFailedPrecondition for a transition the state does not allow, kUnavailable for a store that is
// closed or locked, kInternal for I/O errors.
class Store {
 public:
  virtual ~Store() = default;

  // ---- tasks ----
  // The id of the task with this workload digest and target, made if new.
  virtual absl::StatusOr<int64_t> EnsureTask(const Task& task) = 0;
  virtual absl::StatusOr<Task> GetTask(int64_t id) = 0;
  virtual absl::StatusOr<std::optional<Task>> FindTask(const std::string& workload_digest,
                                                       const std::string& target) = 0;
  // The tasks of this workload on every target, by id.
  virtual absl::StatusOr<std::vector<Task>> TasksOfWorkload(const std::string& workload_digest) = 0;

  // ---- jobs ----
  // A job with the same client_id is returned as it is (its id and state), and nothing is written.
  // A new one is queued and has not run.
  virtual absl::StatusOr<Job> SubmitJob(const Job& job) = 0;
  virtual absl::StatusOr<Job> GetJob(int64_t id) = 0;
  // By id, after `after_id`; limit 0: all.
  virtual absl::StatusOr<std::vector<Job>> ListJobs(int64_t after_id, int64_t limit) = 0;
  // With an event of kind "state" in the same transaction.
  virtual absl::Status SetJobState(int64_t id, JobState state, const std::string& message) = 0;
  // The running time of a running job so far, for its limit (Job::ran_ns). No event.
  virtual absl::Status SetJobRan(int64_t id, int64_t ran_ns) = 0;
  virtual absl::StatusOr<int64_t> AppendEvent(int64_t job, const std::string& kind,
                                              const std::string& payload) = 0;
  virtual absl::StatusOr<std::vector<Event>> ListEvents(int64_t job, int64_t after_seq,
                                                        int64_t limit) = 0;

  // ---- trials: proposed -> leased -> settled ----
  // Inserts the trials whose key (task, signature, config_digest, purpose, round) is new, in one
  // transaction, and returns the rows of all of them, in order (an existing one as it is).
  virtual absl::StatusOr<std::vector<Trial>> Propose(const std::vector<Trial>& trials) = 0;
  // A new lease of a proposed or leased trial: attempt + 1 and a fence from the persisted counter,
  // greater than any before it. Results under older fences are refused from here on.
  virtual absl::StatusOr<Trial> Lease(int64_t trial, const std::string& worker) = 0;
  // Back to proposed, if `fence` is the newest lease (infrastructure failure: retried elsewhere).
  virtual absl::Status Release(int64_t trial, int64_t fence) = 0;
  // Leased under `fence` -> settled, with its record and an event "trial_settled" of its job, in
  // one transaction.
  virtual absl::StatusOr<SettleResult> Settle(int64_t fence, const Record& record) = 0;
  // As Settle, for a confirm trial whose record is a success, with AddFinal of `final` in the same
  // transaction. kRefused, kDuplicate: no final is added. kInvalidArgument where the trial is no
  // confirm trial, the record no success, or the final of another task or signature.
  virtual absl::StatusOr<SettleResult> SettleFinal(int64_t fence, const Record& record,
                                                   const Final& final) = 0;
  // A trial that was measured elsewhere: proposed and settled with its record in one transaction,
  // under a lease of the worker "import". record.trial is not read. kDuplicate: a trial with its
  // key exists already, open or settled, and nothing is written.
  virtual absl::StatusOr<SettleResult> Import(const Trial& trial, const Record& record) = 0;
  // Trials proposed or leased, by id; of one job, or of all (0).
  virtual absl::StatusOr<std::vector<Trial>> OpenTrials(int64_t job) = 0;
  // Trials of every state with this purpose.
  virtual absl::StatusOr<int64_t> CountTrials(int64_t task, const std::string& signature,
                                              Purpose purpose) = 0;

  // ---- records and finals ----
  virtual absl::StatusOr<std::vector<Record>> Records(const RecordFilter& filter) = 0;
  // With an event "final" of its job in the same transaction. Returns its id.
  virtual absl::StatusOr<int64_t> AddFinal(const Final& final) = 0;
  virtual absl::StatusOr<std::optional<Final>> NewestFinal(int64_t task,
                                                           const std::string& signature) = 0;

  // ---- finals of models ----
  // Returns its id. kInvalidArgument for one without a skeleton, target or kernels.
  virtual absl::StatusOr<int64_t> AddModelFinal(const ModelFinal& final) = 0;
  // The newest final of the model with this skeleton on this target.
  virtual absl::StatusOr<std::optional<ModelFinal>> NewestModelFinal(const std::string& skeleton,
                                                                     const std::string& target) = 0;

  // ---- misses: kernels compiled at a tier below `tuned` ----
  // Adds `miss.count` to the miss with this (workload digest, signature, target, model), which
  // takes on the tier.
  virtual absl::Status RecordMiss(const Miss& miss) = 0;
  // Of one target, or of all (empty); in the order in which they were first seen.
  virtual absl::StatusOr<std::vector<Miss>> ListMisses(const std::string& target) = 0;

  // ---- upkeep ----
  // Everything that does not hold, in sentences; empty when the store is sound.
  virtual absl::StatusOr<std::vector<std::string>> Check() = 0;
};

// `clock` stamps events and outlives the store.
std::unique_ptr<Store> MakeMemoryStore(const Clock& clock = Clock::Real());

// Who writes a database.
struct Writer {
  // At which it is reached ("unix:PATH"). Empty: it serves nobody.
  std::string address = "";
  // Its process; 0: unknown. Where it opens the database, the store fills this in.
  int64_t pid = 0;
  // Set for a private daemon: the process that it serves, and nobody else. 0: of none.
  int64_t client = 0;
};
// Whether it serves whoever may dial.
bool IsService(const Writer& writer);
// For sentences: "unix:PATH", "a `hone tune` (process 7)", "process 7", "another process".
std::string Describe(const Writer& writer);

enum class OpenMode {
  kReadOnly,   // the file must exist; short transactions; never writes, not even a migration
  kReadWrite,  // the file must exist; takes FILE.lock
  kCreate,     // as kReadWrite, and makes the file where there is none
};
// kNotFound: no file; kInvalidArgument: no SQLite database, or none of Hone's; kFailedPrecondition:
// of a newer version (read-only: of an older one too), or on a network file system; kUnavailable:
// FILE.lock is held (the message names the holder); kPermissionDenied: the system does not let us.
// `self` is written into FILE.lock.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path, OpenMode mode,
                                                       const Writer& self = {},
                                                       const Clock& clock = Clock::Real());
// $XDG_DATA_HOME/hone/hone.db, or ~/.local/share/hone/hone.db. Makes nothing.
std::string DefaultPath();
// What FILE.lock says of the live writer; none where nobody holds it.
absl::StatusOr<std::optional<Writer>> WriterOf(const std::string& path);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_STORE_H_
