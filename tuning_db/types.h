// What the tuning database holds. Plain values; the words are those of docs/architecture.md, 2.
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
  kPaused = 5,  // nothing is done for it until somebody resumes it
};

// What a search proposed for a job: to find fast configs, or to calibrate the analytic model.
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

// The order of a list: that in which its entries were committed, or the reverse.
enum class Order { kOldestFirst, kNewestFirst };

// What is tuned: workload x target. Its spaces, trials and finals are apart by layout signature.
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
  std::string config_digest;  // of the config's text
  std::string nest_digest;
  Purpose purpose = Purpose::kSearch;
  int64_t round = 0;
  int64_t job = 0;
  TrialState state = TrialState::kProposed;
  int64_t attempt = 0;  // leases so far
  int64_t fence = 0;    // of the newest lease
  std::string worker;   // of the newest lease
  int64_t strikes = 0;  // leases that were lost while they ran
  // While it is leased:
  std::string device;
  int64_t limit_ns = 0;  // how long the device may run it; 0: not said
  Assigned assigned;     // what its result is compared with
};

// The settled outcome of a trial. Append-only.
struct Record {
  int64_t id = 0;
  int64_t trial = 0;
  Outcome outcome = Outcome::kOk;
  std::string message;             // of a failure: what was expected and found
  std::vector<double> samples_ns;  // clean chunks, nanoseconds a run
  double median_ns = 0;            // 0 where the outcome is a failure
  double calibrator_ns = 0;        // the worker's fixed loop, interleaved
  double anchor_ns = 0;    // the task's default config in the same session; 0: not measured.
                           // For a calibration, median_ns / (median ratio of the rounds)
  double error_ratio = 0;  // largest |err| / bound on the float inputs; <= 1 passes
  std::string artifact_digest;
  std::string toolchain;
  std::string device;  // fingerprint
  std::string regime;  // "warm", "shared_constants", "cold_constants"
  std::string worker;
  int64_t wall_time_ns = 0;  // since the epoch, for display
  std::string retracted;     // why it counts for nothing (Upkeep::Retract); empty: it counts
  // Filled by queries from the trial and task.
  Trial of_trial;
};

// What a trial counts as where it is ranked: its least sample, for who disturbs only adds. 0: a
// failure.
double RankedNs(const Record& record);
// The samples that a record of search keeps however old it is (Upkeep::Prune): the least, by which
// it is ranked.
std::vector<double> RankingSamples(const std::vector<double>& samples_ns);

// The top few, the incumbent and the default in interleaved rounds.
struct FinalEntry {
  std::string config;
  std::string nest_digest;
  std::string artifact_digest;
  std::vector<double> round_ns;  // one figure a round, all entries in the same rounds
  double median_ns = 0;
  double ratio_to_default = 1;  // median of the per-round ratios default / this: above 1 is faster
};
struct Final {
  int64_t id = 0;
  int64_t task = 0;
  std::string signature;
  int64_t job = 0;
  // The record of its confirm trial, in whose one measurement it was run: that says by which worker
  // and when, and where it is retracted, so is the final. 0: unknown, the final came without.
  int64_t record = 0;
  int64_t distinct_trials = 0;  // settled search trials of the task and signature when it was run
  int64_t space_size = 0;       // counted up to a limit
  // The search ended before its budget because more trials promised too little (decision 0016): the
  // share of the models' time that the task had in the job. 0: it did not.
  double ended_share = 0;
  int winner = 0;  // index into entries
  int default_entry = 0;
  std::vector<FinalEntry> entries;
  std::string toolchain;
  std::string device;
  int64_t wall_time_ns = 0;
};

// What a final says of its winner.
FinalFigures FiguresOf(const Final& final);
// The winner's time as its paired ratio to the default's median gives it: rounds drift together, so
// this and the default's compare where two medians over all rounds need not.
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
  std::string client_id;  // Submit is idempotent by it
  // The SHA-256 of what was asked for under the client id, in hex. Empty: unknown (jobs of older
  // versions).
  std::string request_digest;
  std::string model;  // name, for people
  std::string target;
  uint64_t seed = 0;
  int priority = 0;
  int64_t deadline_ns = 0;  // of running time; 0: none
  std::string search;       // "xgboost", "random", ...
  // The model's constants, in bytes (decision 0004). 0: unknown.
  int64_t constant_bytes = 0;
  // Its searches end where more trials promise too little (decision 0016).
  bool ends_early = false;
  // What the models' calls of kernels that are no tasks of this job take. Shares of the models'
  // time count it.
  double elsewhere_ns = 0;
  // Spent running, over all daemons that ran it, as SetJobRan last said.
  int64_t ran_ns = 0;
  // Who asked for it: a user of the daemon's machine. Empty: unknown (jobs of older versions).
  std::string submitter;
  // By the store's clock, when it was submitted; 0: unknown (jobs of older versions).
  int64_t submitted_at_ns = 0;
  // The least that its candidates are measured in (hone.v1.SandboxLevel); 0: what the farm
  // requires.
  int sandbox = 0;
  // Only devices of this class measure for it (tuner/farm/device_class.h); empty: any.
  std::string device_class;
  std::string owner;  // the daemon that runs it, with an epoch
  int64_t epoch = 0;
  // The job is of a private daemon: it ends with that daemon's client (decision 0014).
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

// A kernel that a compile found no tuned config for; `hone tune --misses` tunes them.
struct Miss {
  std::string workload;  // text
  std::string workload_digest;
  std::string signature;
  std::string target;
  std::string tier;   // that it got instead: "default", "compatible", ...
  std::string model;  // name, for people
  int64_t count = 1;  // compiles that missed it
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TYPES_H_
