// Tasks, and their trials from proposal to settlement: proposed -> leased -> settled.
#ifndef HONE_TUNING_DB_TRIAL_STORE_H_
#define HONE_TUNING_DB_TRIAL_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/ownership.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

struct LeaseRequest {
  int64_t trial = 0;
  std::string worker = "";
  std::string device = "";
  int64_t limit_ns = 0;      // how long the device may run it; 0: not said
  Assigned assigned = {};    // what its result is to be compared with; nothing: by nobody's device
  Ownership ownership = {};  // of the trial's job
};

struct ReleaseRequest {
  int64_t trial = 0;
  int64_t fence = 0;
  bool is_strike = false;    // it is counted against the trial (Trial::strikes)
  Ownership ownership = {};  // of the trial's job
};

// Carries no ownership: a result is good by its fence, whichever daemon it reached.
struct Settlement {
  int64_t fence = 0;
  Record record;
  // The final of a confirm trial whose record is a success: added in the same transaction.
  std::optional<Final> final = std::nullopt;
};

// What a log says of a trial.
struct Measured {
  Trial trial;
  Record record;
};

enum class SettleResult {
  kSettled,    // this call settled the trial
  kDuplicate,  // it was settled before, under this fence: acknowledge likewise
  kRefused,    // late or foreign fence: the result is dropped
};

// How a device of a worker fares: what keeps a device that loses measurements from being given
// more.
struct DeviceRest {
  std::string worker;
  std::string device;
  int64_t losses = 0;   // one after the other, the last ones
  int64_t rests = 0;    // so far; each is longer than the one before it
  int64_t rest_ns = 0;  // left of its rest, by the store's clock; 0: it does not rest
  std::string reason;   // for people
};

// Entries of batches that wait for their commit at one time, over all calls.
inline constexpr size_t kMostWaiting = 4096;

// A part of Store, whose comment says what holds for every call.
class TrialStore {
 public:
  virtual ~TrialStore() = default;

  // ---- tasks ----
  // The id of the task with this workload digest and target, made if new.
  virtual absl::StatusOr<int64_t> EnsureTask(const Task& task) = 0;
  virtual absl::StatusOr<Task> GetTask(int64_t id) = 0;
  virtual absl::StatusOr<std::optional<Task>> FindTask(const std::string& workload_digest,
                                                       const std::string& target) = 0;
  // The tasks of this workload on every target, by id.
  virtual absl::StatusOr<std::vector<Task>> TasksOfWorkload(const std::string& workload_digest) = 0;

  // ---- trials ----
  // Inserts the trials whose key (task, signature, config_digest, purpose, round) is new, in one
  // transaction, and returns the rows of all of them, in order (an existing one as it is). An owner
  // proposes for a job that runs: kFailedPrecondition where it is queued or paused.
  virtual absl::StatusOr<std::vector<Trial>> Propose(const Ownership& ownership,
                                                     const std::vector<Trial>& trials) = 0;
  absl::StatusOr<std::vector<Trial>> Propose(const std::vector<Trial>& trials) {
    return Propose(Ownership(), trials);
  }
  // Propose that returns at once and calls back once the rows are durable. What holds for `done`,
  // and when it is not called, is as for the batches below; a proposal is one entry of theirs.
  virtual absl::Status ProposeThen(
      const Ownership& ownership, const std::vector<Trial>& trials,
      std::function<void(absl::StatusOr<std::vector<Trial>>)> done) = 0;
  // Trials that were measured elsewhere: each is proposed and settled with its record, under a
  // lease of the worker "import", all in one transaction, or none where one is refused.
  // record.trial is not read. The answers are in the order of the entries; kDuplicate: a trial with
  // its key exists already, open or settled, and nothing is written of it.
  virtual absl::StatusOr<std::vector<SettleResult>> ImportMany(
      const std::vector<Measured>& entries) = 0;
  absl::StatusOr<SettleResult> Import(const Trial& trial, const Record& record);
  // Trials proposed or leased, by id; of one job, or of all (0).
  virtual absl::StatusOr<std::vector<Trial>> OpenTrials(int64_t job) = 0;
  // Trials of every state with this purpose.
  virtual absl::StatusOr<int64_t> CountTrials(int64_t task, const std::string& signature,
                                              Purpose purpose) = 0;

  // ---- batches ----
  // Each takes many, returns at once, and calls `done` once when all of them are durable: one
  // transaction and one sync, which calls that come meanwhile share with the next. The answers are
  // in the order of the entries, each its own: one that is refused leaves the others alone. Where
  // the commit fails, all have its error. `done` is called on any thread, maybe before the call
  // returns; it must not block, nor call the store.
  // kResourceExhausted: too many wait (kMostWaiting); nothing is done and `done` is not called.
  //
  // A new lease of a proposed or leased trial: attempt + 1 and a fence from the persisted counter,
  // greater than any before it. Results under older fences are refused from here on.
  using LeaseAnswers = std::vector<absl::StatusOr<Trial>>;
  virtual absl::Status LeaseMany(std::vector<LeaseRequest> requests,
                                 std::function<void(LeaseAnswers)> done) = 0;
  // Back to proposed, if `fence` is the newest lease (infrastructure failure: retried elsewhere).
  // Answers with the trial as it is then. A release that is repeated changes nothing, strikes
  // included.
  using ReleaseAnswers = std::vector<absl::StatusOr<Trial>>;
  virtual absl::Status ReleaseMany(std::vector<ReleaseRequest> requests,
                                   std::function<void(ReleaseAnswers)> done) = 0;
  // Leased under `fence` -> settled, with its record and an event "trial_settled", and
  // the final where there is one. kRefused, kDuplicate: no final is added. kInvalidArgument for a
  // final where the trial is no confirm trial, the record no success, or the final of another task
  // or signature.
  using SettleAnswers = std::vector<absl::StatusOr<SettleResult>>;
  virtual absl::Status SettleMany(std::vector<Settlement> settlements,
                                  std::function<void(SettleAnswers)> done) = 0;

  // The trials with these ids, as they are when what was begun before is durable.
  using GetAnswers = std::vector<absl::StatusOr<Trial>>;
  virtual absl::Status GetMany(std::vector<int64_t> trials,
                               std::function<void(GetAnswers)> done) = 0;

  // Batches of one that wait until they are durable.
  absl::StatusOr<Trial> Lease(const LeaseRequest& request);
  absl::StatusOr<Trial> Lease(int64_t trial, const std::string& worker);
  absl::Status Release(int64_t trial, int64_t fence, bool is_strike = false);
  absl::StatusOr<SettleResult> Settle(int64_t fence, const Record& record);
  absl::StatusOr<SettleResult> SettleFinal(int64_t fence, const Record& record, const Final& final);

  // ---- devices ----
  // What was known of this worker's device is replaced. One without losses and rests is forgotten.
  virtual absl::Status SetDeviceRest(const DeviceRest& rest) = 0;
  // By worker and device.
  virtual absl::StatusOr<std::vector<DeviceRest>> ListDeviceRests() = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TRIAL_STORE_H_
