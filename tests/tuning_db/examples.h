// Rows that tests of the tuning database start from.
#ifndef HONE_TESTS_TUNING_DB_EXAMPLES_H_
#define HONE_TESTS_TUNING_DB_EXAMPLES_H_

#include <string>

#include "support/digest.h"
#include "tuning_db/model_final.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

inline constexpr char kSignature[] = "NCHW16c->NCHW16c";

inline Task ExampleTask(int n = 0, const std::string& target = "llvm -mcpu=x86-64-v4 -threads=2") {
  Task task;
  task.workload = "fn (p0: Tensor[(1, " + std::to_string(n) + "), float32]) { nn.relu(p0) }";
  task.workload_digest = Sha256Hex(task.workload);
  task.anchor_digest = Sha256Hex("anchor" + task.workload);
  task.target = target;
  return task;
}

inline Trial ExampleTrial(int64_t task, int64_t job, int n = 0) {
  Trial trial;
  trial.task = task;
  trial.job = job;
  trial.signature = kSignature;
  trial.config = "tile=" + std::to_string(n) + " unroll=4";
  trial.config_digest = Sha256Hex(trial.config);
  trial.nest_digest = Sha256Hex("nest" + trial.config);
  return trial;
}

inline Record ExampleRecord(int64_t trial, double median_ns = 1000) {
  Record record;
  record.trial = trial;
  record.samples_ns = {median_ns * 1.01, median_ns, median_ns * 0.99};
  record.median_ns = median_ns;
  record.calibrator_ns = 100;
  record.anchor_ns = 2000;
  record.error_ratio = 0.25;
  record.artifact_digest = Sha256Hex("artifact");
  record.toolchain = "llvm 19.1.7";
  record.device = "cpu of a test";
  record.regime = "warm";
  record.worker = "worker-1";
  record.wall_time_ns = 1'700'000'000'000'000'000;
  return record;
}

inline Job ExampleJob(int64_t task, const std::string& client_id = "client-1") {
  Job job;
  job.client_id = client_id;
  job.model = "resnet18";
  job.target = "llvm";
  job.seed = 0xFFFF'FFFF'FFFF'FFFEu;
  job.priority = -3;
  job.deadline_ns = 60'000'000'000;
  job.search = "xgboost";
  job.constant_bytes = 46'000'000'000;
  job.ends_early = true;
  job.elsewhere_ns = 2.5e6;
  job.submitter = "uid:1000";
  job.owner = "honed@host";
  job.epoch = 4'000'000;  // no daemon of a test ever has this epoch
  job.tasks = {{task, kSignature, "conv1", 2.5, 64}};
  return job;
}

inline Final ExampleFinal(int64_t task, int64_t job, int64_t distinct_trials = 64) {
  Final final;
  final.task = task;
  final.job = job;
  final.signature = kSignature;
  final.distinct_trials = distinct_trials;
  final.space_size = 5000;
  final.winner = 1;
  final.default_entry = 0;
  final.entries = {{"tile=1 unroll=1", "nest-default", "artifact-default", {2000, 2010}, 2005, 1},
                   {"tile=8 unroll=4", "nest-winner", "artifact-winner", {1000, 1002}, 1001, 2.0}};
  final.toolchain = "llvm 19.1.7";
  final.device = "cpu of a test";
  final.wall_time_ns = 1'700'000'000'000'000'001;
  return final;
}

inline ModelFinal ExampleModelFinal(const std::string& skeleton, double tuned_ns = 800) {
  ModelFinal final;
  final.skeleton = skeleton;
  final.target = "llvm";
  final.model = "resnet18";
  final.signatures = {kSignature, "NCHW16c->NCHW16c"};
  final.kernels = {{"conv2d_relu",
                    "workload-1",
                    kSignature,
                    2,
                    R"({"tile":8})",
                    R"({"tile":8})",
                    "nest-8",
                    500,
                    400,
                    {1.25, 1.2, 1.3}},
                   {"add",
                    "workload-2",
                    "NCHW16c->NCHW16c",
                    1,
                    R"({"tile":2})",
                    R"({"tile":1})",
                    "nest-1",
                    100,
                    110,
                    {0.91, 0.9, 0.95}}};
  final.compared = "all that was compared";
  final.rounds = 15;
  final.default_ns = 1000;
  final.tuned_ns = tuned_ns;
  final.ratio = {1000 / tuned_ns, 1.1, 1.5};
  final.wall_time_ns = 1'700'000'000'000'000'002;
  return final;
}

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_EXAMPLES_H_
