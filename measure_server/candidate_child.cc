#include "measure_server/candidate_child.h"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure_server/kernel_buffers.h"
#include "measure_server/reference_file.h"
#include "measure_server/timed_kernel.h"
#include "runtime/kernel_runner.h"
#include "runtime/module.h"
#include "support/clock.h"
#include "support/median.h"

namespace hone::measure {
namespace {

// Ends the process: memory is not given back and destructors do not run, for the candidate may have
// spoilt what they would touch.
[[noreturn]] void End(RunReport* report, RunOutcome outcome, const std::string& message) {
  SetMessage(report, message.c_str());
  report->outcome = outcome;
  _exit(0);
}

// A worker's own priority over what else runs here, where the system allows it.
void TakePriority() {
  const sched_param priority{.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO, &priority);
}

// A signal's own meaning, whatever libraries of the worker made of it: the zygote wants to see it.
void ResetSignals() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU, SIGTRAP}) {
    signal(number, SIG_DFL);
  }
}

class Child {
 public:
  explicit Child(const ChildSetup& setup) : setup_(setup), report_(setup.report) {}

  [[noreturn]] void RunCandidate() {
    // Mapped, it needs no descriptor, and its size does not count against the limit.
    if (setup_.request.has_reference != 0) OpenReference();
    KeepDescriptors({setup_.artifact_fd, setup_.control_fd});
    SetUp(/*is_timed=*/true);
    if (setup_.request.has_reference != 0) Check();
    Measure();
  }

  [[noreturn]] void RunReference() {
    KeepDescriptors({setup_.artifact_fd, setup_.control_fd, setup_.reference_fd});
    SetUp(/*is_timed=*/false);
    std::string error;
    if (!reference_.OpenForWriting(setup_.reference_fd, kernel(), &error)) {
      End(report_, RunOutcome::kLoadError, error);
    }
    EnterRunning();
    for (const InputSet set : {InputSet::kExact, InputSet::kFloat}) {
      KernelBuffers buffers = KernelBuffers::Plain(kernel());
      RunOnce(buffers, set);
      reference_.Write(set, kernel(), buffers.pointers());
    }
    reference_.MarkComplete();
    End(report_, RunOutcome::kOk, "");
  }

 private:
  const hone_kernel& kernel() const { return module_->table().kernels[0]; }

  void KeepDescriptors(std::vector<int> kept) const {
    if (CloseAllBut(std::move(kept))) return;
    End(report_, RunOutcome::kDeviceLost,
        std::string("closing what it does not need failed: ") + std::strerror(errno));
  }

  void OpenReference() {
    std::string error;
    if (reference_.OpenForReading(setup_.reference_fd, &error)) return;
    End(report_, RunOutcome::kDeviceLost, error);
  }

  // Threads, limits, filter, and the artifact's code, in this order.
  void SetUp(bool is_timed) {
    const RunRequest& request = setup_.request;
    ResetSignals();
    if (is_timed) TakePriority();
    team_.emplace(static_cast<int>(request.threads), ThreadTeam::Placement::kPinned);
    if (!team_->error().empty()) End(report_, RunOutcome::kDeviceLost, team_->error());
    // Every thread has made the system calls of its start before they are forbidden.
    team_->Run([](void*, int) {}, nullptr);
    const ResourceLimits limits{request.memory_limit_bytes + OwnMemoryBytes(),
                                request.run_limit_ns * static_cast<int64_t>(request.threads)};
    if (!setup_.sandbox->EnterLimits(limits) || !setup_.sandbox->EnterLoading()) {
      End(report_, RunOutcome::kDeviceLost,
          std::string("entering the sandbox failed: ") + std::strerror(errno));
    }
    Load();
    report_->sandbox_ns = Clock::Real().NowNs() - setup_.start_ns;
  }

  // What we allocate beside the kernel's buffers, which CheckMemory counts.
  uint64_t OwnMemoryBytes() const {
    const RunRequest& request = setup_.request;
    // Two input sets of each output.
    if (request.kind == RunRequest::kReference) return 2 * request.memory_limit_bytes;
    // Those of the check stay until what is timed has its own.
    const uint64_t of_check = request.has_reference != 0 ? request.memory_limit_bytes : 0;
    return of_check + (request.plan.rotation_bytes != 0 ? request.memory_limit_bytes : 0);
  }

  void Load() {
    report_->stage = RunStage::kLoading;
    std::string error;
    module_ = Module::OpenDescriptor(setup_.artifact_fd, "the artifact", &error);
    if (module_ == nullptr) End(report_, RunOutcome::kLoadError, error);
    if (module_->table().kernel_count != 1) {
      End(report_, RunOutcome::kLoadError, "expected an artifact with one kernel");
    }
    CheckMemory();
    report_->stage = RunStage::kPreparing;
    runner_.emplace(kernel(), *team_);
    if (!runner_->ok()) End(report_, RunOutcome::kOutOfMemory, "no memory for the scratch");
  }

  // The kernel's own tables say what it needs; the limit of the address space is for what they do
  // not.
  void CheckMemory() const {
    const uint64_t limit = setup_.request.memory_limit_bytes;
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < kernel().buffer_count; ++b) bytes += kernel().buffers[b].size_bytes;
    if (limit == 0 || bytes <= limit) return;
    End(report_, RunOutcome::kOutOfMemory,
        "no memory for its buffers: they take " + std::to_string(bytes) + " bytes, the limit is " +
            std::to_string(limit));
  }

  void EnterRunning() {
    if (setup_.sandbox->EnterRunning()) return;
    End(report_, RunOutcome::kDeviceLost,
        std::string("entering the sandbox failed: ") + std::strerror(errno));
  }

  // Fills, prepares and runs once, closing what is complete to writers.
  void RunOnce(KernelBuffers& buffers, InputSet set) {
    if (!buffers.ok()) End(report_, RunOutcome::kOutOfMemory, "no memory for the buffers");
    buffers.Fill(setup_.request.seed, set);
    buffers.Close(HONE_ROLE_INPUT);
    buffers.Close(HONE_ROLE_CONSTANT);
    runner_->Bind(buffers.pointers());
    runner_->Run(HONE_PHASE_PREPARE);
    buffers.Close(HONE_ROLE_PREPARED);
    runner_->Run(HONE_PHASE_RUN);
  }

  void Check() {
    const int64_t start_ns = Clock::Real().NowNs();
    EnterRunning();
    report_->stage = RunStage::kChecking;
    for (const InputSet set : {InputSet::kExact, InputSet::kFloat}) CheckSet(set);
    report_->check_ns = Clock::Real().NowNs() - start_ns;
  }

  void CheckSet(InputSet set) {
    const char* set_name = set == InputSet::kExact ? "small integers" : "floats";
    // The floats are kept for what is timed: constants can be many, and take long to make.
    checked_.reset();
    KernelBuffers& buffers = checked_.emplace(KernelBuffers::Guarded(kernel()));
    RunOnce(buffers, set);
    if (const char* damaged = buffers.FindDamaged(); damaged != nullptr) {
      End(report_, RunOutcome::kWrongOutput,
          std::string("wrote beyond the ends of buffer ") + damaged);
    }
    const std::vector<uint32_t> outputs = OutputsOf(kernel());
    if (outputs.size() != reference_.output_count()) {
      End(report_, RunOutcome::kWrongOutput,
          "has " + std::to_string(outputs.size()) + " outputs, the reference " +
              std::to_string(reference_.output_count()));
    }
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const hone_buffer& buffer = kernel().buffers[outputs[i]];
      uint64_t elements = 1;
      for (uint32_t axis = 0; axis < buffer.rank; ++axis) {
        elements *= static_cast<uint64_t>(buffer.shape[axis]);
      }
      if (elements != reference_.element_count(i)) {
        End(report_, RunOutcome::kWrongOutput,
            std::string(buffer.name) + " has not as many elements as the reference");
      }
      const OutputVerdict verdict = CheckOutput(buffer, buffers.pointers()[outputs[i]],
                                                reference_.Output(set, i), kernel().error_bound);
      if (set == InputSet::kFloat) {
        report_->error_ratio = std::max(report_->error_ratio, verdict.error_ratio);
      }
      if (!verdict.ok) {
        End(report_, RunOutcome::kWrongOutput, verdict.message + " (inputs: " + set_name + ")");
      }
    }
  }

  [[noreturn]] void Measure() {
    if (setup_.request.has_reference == 0) EnterRunning();
    report_->stage = RunStage::kTiming;
    const Plan& plan = setup_.request.plan;
    TimedKernel timed(kernel(), *team_);
    if (!timed.SetUp(setup_.request.seed, checked_ ? &*checked_ : nullptr)) {
      End(report_, RunOutcome::kOutOfMemory, "no memory for the buffers it is timed with");
    }
    checked_.reset();
    const bool rotate =
        plan.rotation_bytes != 0 &&
        timed.RotateConstants(plan.rotation_bytes, setup_.request.memory_limit_bytes);
    report_->constants_rotate = rotate ? 1 : 0;
    Say(kReady);
    while (Hear() == kRound) {
      const int64_t start_ns = Clock::Real().NowNs();
      Keep(Time(timed, plan));
      report_->timing_ns += Clock::Real().NowNs() - start_ns;
      Say(kDone);
    }
    End(report_, RunOutcome::kOk, "");
  }

  void Keep(const Timing& timing) {
    report_->dirty_chunks += timing.dirty_chunks;
    if (setup_.request.rounds != 0) return KeepRound(timing);
    if (timing.is_noisy) report_->is_noisy = 1;
    for (size_t i = 0; i < timing.samples_ns.size(); ++i) {
      KeepSample(timing.samples_ns[i], timing.calibrator_ns[i]);
    }
  }

  // The median of its clean chunks; where it has none, its least disturbed chunk.
  void KeepRound(Timing timing) {
    if (timing.clean_chunks == 0) report_->is_noisy = 1;
    const uint32_t used = std::max(timing.clean_chunks, 1u);
    timing.samples_ns.resize(used);
    timing.calibrator_ns.resize(used);
    KeepSample(Median(std::move(timing.samples_ns)), Median(std::move(timing.calibrator_ns)));
  }

  void KeepSample(double sample_ns, double calibrator_ns) {
    if (report_->sample_count >= kMaxSamples) return;
    report_->samples_ns[report_->sample_count] = sample_ns;
    report_->calibrator_ns[report_->sample_count] = calibrator_ns;
    report_->sample_count += 1;
  }

  void Say(char byte) { (void)!send(setup_.control_fd, &byte, 1, MSG_NOSIGNAL); }

  char Hear() {
    char byte = kEnd;
    return recv(setup_.control_fd, &byte, 1, 0) == 1 ? byte : static_cast<char>(kEnd);
  }

  const ChildSetup& setup_;
  RunReport* const report_;
  ReferenceFile reference_;
  std::optional<ThreadTeam> team_;
  std::unique_ptr<Module> module_;
  std::optional<KernelRunner> runner_;
  std::optional<KernelBuffers> checked_;  // of the newest set
};

}  // namespace

void RunCandidateChild(const ChildSetup& setup) { Child(setup).RunCandidate(); }

void RunReferenceChild(const ChildSetup& setup) { Child(setup).RunReference(); }

}  // namespace hone::measure
