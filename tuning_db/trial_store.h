// The part of the store for tasks and their trials: proposed -> leased -> settled.
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
  int64_t limit_ns = 0;      // how long the device may run it; 0: unknown
  Assigned assigned = {};    // what its result is compared with; empty if no device measures it
  Ownership ownership = {};  // of the trial's job
};

struct ReleaseRequest {
  int64_t trial = 0;
  int64_t fence = 0;
  bool is_strike = false;    // counts against the trial (Trial::strikes)
  Ownership ownership = {};  // of the trial's job
};

// Carries no ownership: the fence alone makes a result valid, whichever daemon it reached.
struct Settlement {
  int64_t fence = 0;
  Record record;
  // The final of a confirm trial whose record is a success: added in the same transaction.
  std::optional<Final> final = std::nullopt;
};

// A trial with its record, as a log has them.
struct Measured {
  Trial trial;
  Record record;
};

enum class SettleResult {
  kSettled,    // this call settled the trial
  kDuplicate,  // it was settled before, under this fence; acknowledge it in the same way
  kRefused,    // late or foreign fence: the result is dropped
};

// The rest of a device: while it rests, it is given nothing to measure, because it lost
// measurements.
struct DeviceRest {
  std::string worker;
  std::string device;
  int64_t losses = 0;   // measurements lost in a row, up to now
  int64_t rests = 0;    // rests so far; each is longer than the one before
  int64_t rest_ns = 0;  // what is left of its rest, by the store's clock; 0: it does not rest
  std::string reason;   // for people
};

// How many entries of batches may wait for their commit at a time, over all calls.
inline constexpr size_t kMostWaiting = 4096;

// A part of Store; its comment (store.h) says what holds for every call.
class TrialStore {
 public:
  virtual ~TrialStore() = default;

  // ---- tasks ----
  // The id of the task with this workload digest and target, which is added if new.
  virtual absl::StatusOr<int64_t> EnsureTask(const Task& task) = 0;
  virtual absl::StatusOr<Task> GetTask(int64_t id) = 0;
  virtual absl::StatusOr<std::optional<Task>> FindTask(const std::string& workload_digest,
                                                       const std::string& target) = 0;
  // The tasks of this workload for all targets, sorted by id.
  virtual absl::StatusOr<std::vector<Task>> TasksOfWorkload(const std::string& workload_digest) = 0;

  // ---- trials ----
  // Adds the trials whose key (task, signature, config_digest, purpose, round) is new, in one
  // transaction, and returns the stored trials for all, in order; one that exists stays as it is.
  // kFailedPrecondition if a job is queued or paused (unless the epoch is 0).
  virtual absl::StatusOr<std::vector<Trial>> Propose(const Ownership& ownership,
                                                     const std::vector<Trial>& trials) = 0;
  absl::StatusOr<std::vector<Trial>> Propose(const std::vector<Trial>& trials) {
    return Propose(Ownership(), trials);
  }
  // As Propose, but returns at once and calls `done` once the trials are durable. The rules for
  // batches below hold; the whole proposal counts as one entry.
  virtual absl::Status ProposeThen(
      const Ownership& ownership, const std::vector<Trial>& trials,
      std::function<void(absl::StatusOr<std::vector<Trial>>)> done) = 0;
  // Adds trials that were measured elsewhere: each is proposed and settled with its record, under a
  // lease of the worker "import", in one transaction. If one is refused, none is added.
  // Record::trial is ignored. The results are in the order of the entries; kDuplicate: a trial with
  // this key exists already, open or settled, and stays as it is.
  virtual absl::StatusOr<std::vector<SettleResult>> ImportMany(
      const std::vector<Measured>& entries) = 0;
  absl::StatusOr<SettleResult> Import(const Trial& trial, const Record& record);
  // The proposed and leased trials of one job, or of all (0), sorted by id.
  virtual absl::StatusOr<std::vector<Trial>> OpenTrials(int64_t job) = 0;
  // The number of trials with this purpose, in any state.
  virtual absl::StatusOr<int64_t> CountTrials(int64_t task, const std::string& signature,
                                              Purpose purpose) = 0;

  // ---- batches ----
  // Each call takes many entries, returns at once, and calls `done` once, when all of them are
  // durable: one transaction and one sync, shared with other calls that wait at the same time. Each
  // entry has its own answer, in the order of the entries, and a refused one does not affect the
  // others. If the commit fails, all get its error. `done` may be called on any thread, and before
  // the call returns; it must not block or call the store. kResourceExhausted if too many entries
  // wait (kMostWaiting): nothing is done, and `done` is not called.
  //
  // Gives each trial, proposed or leased, a new lease: attempt + 1, and a fence from the persisted
  // counter that is greater than any before it. Results under older fences are refused from then
  // on.
  using LeaseAnswers = std::vector<absl::StatusOr<Trial>>;
  virtual absl::Status LeaseMany(std::vector<LeaseRequest> requests,
                                 std::function<void(LeaseAnswers)> done) = 0;
  // Makes the trial proposed again if `fence` is its newest (after a failure of infrastructure, so
  // that it is tried elsewhere). The answer is the trial after that. Repeating a release changes
  // nothing, not even strikes.
  using ReleaseAnswers = std::vector<absl::StatusOr<Trial>>;
  virtual absl::Status ReleaseMany(std::vector<ReleaseRequest> requests,
                                   std::function<void(ReleaseAnswers)> done) = 0;
  // Settles a trial that is leased under `fence` with its record, an event "trial_settled", and the
  // final if there is one. With kRefused and kDuplicate nothing is added. kInvalidArgument for a
  // final if the trial is not a confirm trial, the record not a success, or the final of another
  // task or signature.
  using SettleAnswers = std::vector<absl::StatusOr<SettleResult>>;
  virtual absl::Status SettleMany(std::vector<Settlement> settlements,
                                  std::function<void(SettleAnswers)> done) = 0;

  // The trials with these ids, as they are once all earlier batches are durable.
  using GetAnswers = std::vector<absl::StatusOr<Trial>>;
  virtual absl::Status GetMany(std::vector<int64_t> trials,
                               std::function<void(GetAnswers)> done) = 0;

  // These are batches of one entry; they return when it is durable.
  absl::StatusOr<Trial> Lease(const LeaseRequest& request);
  absl::StatusOr<Trial> Lease(int64_t trial, const std::string& worker);
  absl::Status Release(int64_t trial, int64_t fence, bool is_strike = false);
  absl::StatusOr<SettleResult> Settle(int64_t fence, const Record& record);
  absl::StatusOr<SettleResult> SettleFinal(int64_t fence, const Record& record, const Final& final);

  // ---- devices ----
  // Replaces what was stored for this device of this worker. One without losses and rests is
  // removed.
  virtual absl::Status SetDeviceRest(const DeviceRest& rest) = 0;
  // All that are stored, sorted by worker and device.
  virtual absl::StatusOr<std::vector<DeviceRest>> ListDeviceRests() = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TRIAL_STORE_H_
