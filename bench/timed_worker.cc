#include "bench/timed_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "hone/v1/farm.pb.h"
#include "runtime/target_text.h"
#include "support/median.h"
#include "tests/measure_server/sample_artifacts.h"

namespace hone::measure {
namespace {

namespace v1 = hone::v1;

// Writes and reads its workspace once a run, or computes in registers where that is small.
constexpr char kSource[] = R"(
#include "runtime/module_abi.h"
typedef float vector __attribute__((vector_size(64)));
static const int64_t y_shape[1] = {16};
static const int64_t workspace_shape[1] = {WORKSPACE_BYTES / 4};
static void run(void* const* b, int64_t begin, int64_t end, void* s) {
  vector* w = b[0];
  vector* y = b[1];
  vector sums[4] = {0};
  for (int64_t n = 0; n < COMPUTE; ++n) {
    for (int i = 0; i < 4; ++i) sums[i] = sums[i] * 0.999f + 0.001f;
  }
  for (int64_t i = 0; i < WORKSPACE_BYTES / 64; ++i) w[i] = w[i] + 1.0f;
  *y = sums[0] + sums[1] + sums[2] + sums[3];
}
static const struct hone_buffer buffers[2] = {
    {"t", HONE_ROLE_WORKSPACE, 1, 1, 0, workspace_shape, "C", WORKSPACE_BYTES, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 1, 1, 0, y_shape, "C", 64, 0, 0}};
static const struct hone_launch launches[1] = {{"run", run, 1, 0, HONE_PHASE_RUN, 0, 0, 0}};
static const struct hone_kernel kernels[1] = {
    {"bound", "workload", "digest", "config", "", 0, 0, 2, 1, buffers, launches}};
__attribute__((visibility("default"))) const struct hone_module hone_module_v1 = {
    HONE_MODULE_ABI_VERSION, 1, 0, 0, "llvm", "cc", kernels, 0, 0};
)";

TimedKernelSource Bound(const std::string& name, int64_t workspace_bytes, int64_t computed) {
  return {name, fmt::format("#define WORKSPACE_BYTES {}ll\n#define COMPUTE {}\n", workspace_bytes,
                            computed) +
                    kSource};
}

}  // namespace

std::vector<TimedKernelSource> BoundKernels(const std::string& target) {
  // "-caches=L1,L2,L3"
  std::vector<int64_t> caches;
  std::string_view rest = FlagOf(target, "-caches");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    caches.push_back(std::stoll(std::string(rest.substr(0, end))));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (caches.size() != 3) throw std::runtime_error("the target does not say its caches: " + target);
  constexpr int64_t kMebibyte = int64_t{1} << 20;
  const int64_t beyond_caches = std::clamp(4 * caches[2], 128 * kMebibyte, 512 * kMebibyte);
  return {Bound("compute", 64, 100'000), Bound("l2", caches[1] / 2 / 64 * 64, 0),
          Bound("dram", beyond_caches, 0)};
}

TimedWorker::TimedWorker() {
  const std::string address = "unix:" + (folder_ / "socket");
  daemon_ = std::make_unique<FakeDaemon>(address, 3);
  absl::StatusOr<ChildProcess> worker =
      ChildProcess::Start({ExecutableFolder() + "/hone-measure", "--server", address, "--threads",
                           "1", "--parent-death-signal"});
  if (!worker.ok()) throw std::runtime_error(worker.status().ToString());
  worker_ = std::make_unique<ChildProcess>(*std::move(worker));
  const std::optional<v1::WorkRequest> hello =
      daemon_->ReceiveWhere([](const v1::WorkRequest& message) { return message.has_hello(); });
  if (!hello) throw std::runtime_error("hone-measure does not dial");
  target_ = hello->hello().devices(0).target();
}

Timed TimedWorker::Measure(const TimedKernelSource& kernel) {
  v1::WorkResponse message;
  v1::Assignment& assignment = *message.mutable_assignment();
  assignment.set_fence(++fence_);
  assignment.set_trial(fence_);
  assignment.set_device("cpu0");
  assignment.add_candidates()->set_artifact_digest(
      daemon_->AddArtifact(Compiled(kernel.source, kernel.flags)));
  if (kernel.is_checked) {
    assignment.mutable_reference()->set_artifact_digest(
        daemon_->AddArtifact(Compiled(ReferenceSource())));
  }
  assignment.set_workload_digest("workload");
  assignment.set_seed(3);
  assignment.set_threads(1);
  assignment.mutable_timing()->set_chunk_ns(1'000'000);
  assignment.mutable_timing()->set_min_chunks(10);
  assignment.mutable_timing()->set_max_chunks(40);
  assignment.mutable_timing()->set_warmup_ns(5'000'000);
  assignment.set_run_limit_ns(kernel.run_limit_ns);
  assignment.set_memory_limit_bytes(uint64_t{1} << 30);
  daemon_->Send(message);
  const std::optional<v1::WorkRequest> answer =
      daemon_->ReceiveWhere([](const v1::WorkRequest& sent) { return sent.has_result(); });
  if (!answer || answer->result().fence() != fence_) {
    throw std::runtime_error("hone-measure does not answer for " + kernel.name);
  }
  v1::WorkResponse acknowledge;
  acknowledge.mutable_acknowledge()->set_fence(fence_);
  daemon_->Send(acknowledge);
  const v1::CandidateResult& result = answer->result().candidates(0);
  Timed timed;
  timed.outcome =
      v1::MeasureOutcome_Name(result.outcome()).substr(std::string("MEASURE_OUTCOME_").size());
  timed.message = result.message();
  timed.is_noisy = result.noisy();
  timed.median_ns = Median({result.samples_ns().begin(), result.samples_ns().end()});
  const double calibrator_ns =
      Median({result.calibrator_ns().begin(), result.calibrator_ns().end()});
  if (calibrator_ns > 0) timed.normalised = timed.median_ns / calibrator_ns;
  return timed;
}

}  // namespace hone::measure
