// The plain values that the tuning database holds. Their words are those of docs/architecture.md,
// section 2.
#ifndef HONE_TUNING_DB_TYPES_H_
#define HONE_TUNING_DB_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning_db/assigned.h"
#include "tuning_db/progress.h"

namespace hone::tuning_db {

// Values are stored: never renumber.
enum class Outcome {
  kOk = 0,
  kInvalidConfig = 1,
  kBuildError = 2,
  kBuildTimeout = 3,
  kLoadError = 4,
  kCrash = 5,
  kRunTimeout = 6,
  kWrongOutput = 7,
  kOutOfMemory = 8,
  kDeviceLost = 9,
  kCancelled = 10,
};
enum class Purpose { kSearch = 0, kConfirm = 1, kCalibrate = 2, kRerun = 3 };
enum class TrialState { kProposed = 0, kLeased = 1, kSettled = 2 };
enum class JobState {
  kQueued = 0,
  kRunning = 1,
  kDone = 2,
  kFailed = 3,
  kCancelled = 4,
  kPaused = 5,  // nothing is done for the job until somebody resumes it
};

// Whether a search proposes trials of this purpose: to find fast configs, or to calibrate the
// analytic model.
bool IsProposed(Purpose purpose);
// Done, failed and cancelled jobs have ended; paused ones have not.
bool HasEnded(JobState state);
std::string_view Name(Outcome outcome);  // "ok", "wrong_output", ...
std::string_view Name(Purpose purpose);  // "search", ...
std::string_view Name(TrialState state);
std::string_view Name(JobState state);
std::optional<Outcome> ParseOutcome(std::string_view name);
std::optional<Purpose> ParsePurpose(std::string_view name);
std::optional<JobState> ParseJobState(std::string_view name);

// The order of a list: the order of commits, or its reverse.
enum class Order { kOldestFirst, kNewestFirst };

// What is tuned: a workload on a target. Each layout signature has its own space, trials and
// finals.
struct Task {
  int64_t id = 0;
  std::string workload;  // text
  std::string workload_digest;
  std::string anchor_digest;
  std::string target;
};

struct Trial {
  int64_t id = 0;
  int64_t task = 0;
  std::string signature;
  std::string config;         // text
  std::string config_digest;  // SHA-256 of `config`
  std::string nest_digest;
  Purpose purpose = Purpose::kSearch;
  int64_t round = 0;  // tells trials of the same config apart (TrialStore::Propose)
  int64_t job = 0;
  TrialState state = TrialState::kProposed;
  int64_t attempt = 0;  // leases so far
  int64_t fence = 0;    // of the newest lease
  std::string worker;   // of the newest lease
  int64_t strikes = 0;  // how often a worker or device went down while it ran
  // Set only while the trial is leased:
  std::string device;
  int64_t limit_ns = 0;  // how long the device may run it; 0: unknown
  Assigned assigned;     // what its result is compared with
};

// The settled outcome of a trial. Append-only.
struct Record {
  int64_t id = 0;
  int64_t trial = 0;
  Outcome outcome = Outcome::kOk;
  std::string message;             // of a failure: what was expected and found
  std::vector<double> samples_ns;  // one for each clean chunk, in nanoseconds per run
  double median_ns = 0;            // 0 if the outcome is a failure
  double calibrator_ns = 0;        // time of the worker's fixed loop, interleaved
  double anchor_ns = 0;    // the task's default config in the same session; 0: not measured.
                           // For a calibration, median_ns / (median ratio of the rounds)
  double error_ratio = 0;  // largest |err| / bound on the float inputs; <= 1 passes
  std::string artifact_digest;
  std::string toolchain;
  std::string device;  // fingerprint
  std::string regime;  // "warm", "shared_constants", "cold_constants"
  std::string worker;
  int64_t wall_time_ns = 0;  // since 1970, for display
  std::string retracted;     // why it was retracted (Upkeep::Retract); empty: it was not
  // Filled by queries from the trial and task.
  Trial of_trial;
};

// The time by which trials are ranked: the least sample, since disturbances only add time. 0 for a
// failure.
double RankedNs(const Record& record);
// The samples that a search's record keeps when the others are pruned (Upkeep::Prune): the least,
// by which it is ranked.
std::vector<double> RankingSamples(const std::vector<double>& samples_ns);

// One of the configs that a final compares.
struct FinalEntry {
  std::string config;
  std::string nest_digest;
  std::string artifact_digest;
  std::vector<double> round_ns;  // one time for each round; all entries have the same rounds
  double median_ns = 0;
  double ratio_to_default = 1;  // median of the per-round ratios default / this: above 1 is faster
};
// The top few configs, the incumbent and the default, measured in interleaved rounds.
struct Final {
  int64_t id = 0;
  int64_t task = 0;
  std::string signature;
  int64_t job = 0;
  // The record of its confirm trial, which is the measurement of the final. The record says which
  // worker measured and when; if it is retracted, so is the final. 0: unknown.
  int64_t record = 0;
  int64_t distinct_trials = 0;  // settled search trials of the task and signature at that time
  int64_t space_size = 0;       // counted up to a limit
  // If the search ended before its budget because more trials promised too little (decision 0016),
  // the task's share of the time of the job's models. 0: it did not.
  double ended_share = 0;
  int winner = 0;  // index into entries
  int default_entry = 0;
  std::vector<FinalEntry> entries;
  std::string toolchain;
  std::string device;
  int64_t wall_time_ns = 0;
};

// What a final says about its winner.
FinalFigures FiguresOf(const Final& final);
// The winner's time: the default's median divided by the winner's paired ratio. As all entries
// drift together from round to round, this compares with the default's time better than the
// winner's own median does.
double WinnerNs(const Final& final);

struct JobTask {
  int64_t task = 0;
  std::string signature;
  std::string name;    // of the kernel, for people
  double weight = 1;   // calls of the kernel in the job's models
  int64_t trials = 0;  // total budget of the task, over all jobs ever
};
struct Job {
  int64_t id = 0;
  std::string client_id;  // submitting again under the same id adds no job
  // The SHA-256 of the request that came with the client id, in hexadecimal. Empty: unknown (jobs
  // of older versions).
  std::string request_digest;
  std::string model;  // name, for people
  std::string target;
  uint64_t seed = 0;
  int priority = 0;
  int64_t deadline_ns = 0;  // of running time; 0: none
  std::string search;       // "xgboost", "random", ...
  // The model's constants, in bytes (decision 0004). 0: unknown.
  int64_t constant_bytes = 0;
  // Whether its searches end early when more trials promise too little (decision 0016).
  bool ends_early = false;
  // The time that the models spend in kernels that are not tasks of this job. It is part of the
  // models' time when shares of that are computed.
  double elsewhere_ns = 0;
  // The time that it has spent running, over all daemons that ran it, as last set by SetJobRan.
  int64_t ran_ns = 0;
  // The user who asked for it. Empty: unknown (jobs of older versions).
  std::string submitter;
  // When it was submitted, by the store's clock; 0: unknown (jobs of older versions).
  int64_t submitted_at_ns = 0;
  // The lowest sandbox level in which its candidates may be measured (hone.v1.SandboxLevel); 0: as
  // the farm requires.
  int sandbox = 0;
  // Only devices of this class measure for it (tuner/farm/device_class.h); empty: any.
  std::string device_class;
  std::string owner;  // these two: the daemon that runs it, in one of its lives (ownership.h)
  int64_t epoch = 0;
  // Whether it is a private daemon's job, which ends with that daemon's client (decision 0014).
  bool is_private = false;
  JobState state = JobState::kQueued;
  std::string message;
  std::vector<JobTask> tasks;
};

// Numbered from 1 within a job, append-only.
struct Event {
  int64_t job = 0;
  int64_t seq = 0;
  std::string kind;     // "trial_settled", "final", "state", ...
  std::string payload;  // JSON
  int64_t wall_time_ns = 0;
};

// A kernel for which a compile found no tuned config. `hone tune --misses` tunes those.
struct Miss {
  std::string workload;  // text
  std::string workload_digest;
  std::string signature;
  std::string target;
  std::string tier;   // the tier that it got instead: "default", "compatible", ...
  std::string model;  // name, for people
  int64_t count = 1;  // how many compiles missed it
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TYPES_H_
