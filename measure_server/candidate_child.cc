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
    SetUp(/*is_timed=*/true);
    if (setup_.request.has_reference != 0) Check();
    Measure();
  }

  [[noreturn]] void RunReference() {
    SetUp(/*is_timed=*/false);
    ReferenceFile file;
    std::string error;
    if (!file.OpenForWriting(setup_.reference_fd, kernel(), &error)) {
      End(report_, RunOutcome::kLoadError, error);
    }
    EnterRunning();
    for (const InputSet set : {InputSet::kExact, InputSet::kFloat}) {
      KernelBuffers buffers = KernelBuffers::Plain(kernel());
      RunOnce(buffers, set);
      file.Write(set, kernel(), buffers.pointers());
    }
    file.MarkComplete();
    End(report_, RunOutcome::kOk, "");
  }

 private:
  const hone_kernel& kernel() const { return module_->table().kernels[0]; }

  // Threads, limits, filter, and the artifact's code, in this order.
  void SetUp(bool is_timed) {
    const RunRequest& request = setup_.request;
    ResetSignals();
    if (is_timed) TakePriority();
    team_.emplace(static_cast<int>(request.threads), ThreadTeam::Placement::kPinned);
    if (!team_->error().empty()) End(report_, RunOutcome::kDeviceLost, team_->error());
    // Every thread has made the system calls of its start before they are forbidden.
    team_->Run([](void*, int) {}, nullptr);
    // Copies for cold constants are ours, not the kernel's: CheckMemory counts what it asks for.
    const uint64_t copies = request.plan.cold_constants != 0 ? 2 : 0;
    const ResourceLimits limits{request.memory_limit_bytes * (1 + copies),
                                request.run_limit_ns * static_cast<int64_t>(request.threads)};
    if (!setup_.sandbox->EnterLimits(limits) || !setup_.sandbox->EnterLoading()) {
      End(report_, RunOutcome::kDeviceLost,
          std::string("entering the sandbox failed: ") + std::strerror(errno));
    }
    Load();
    report_->sandbox_ns = Clock::Real().NowNs() - setup_.start_ns;
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
    ReferenceFile reference;
    std::string error;
    if (!reference.OpenForReading(setup_.reference_fd, &error)) {
      End(report_, RunOutcome::kDeviceLost, error);
    }
    EnterRunning();
    report_->stage = RunStage::kChecking;
    for (const InputSet set : {InputSet::kExact, InputSet::kFloat}) CheckSet(reference, set);
    report_->check_ns = Clock::Real().NowNs() - start_ns;
  }

  void CheckSet(const ReferenceFile& reference, InputSet set) {
    const char* set_name = set == InputSet::kExact ? "small integers" : "floats";
    KernelBuffers buffers = KernelBuffers::Guarded(kernel());
    RunOnce(buffers, set);
    if (const char* damaged = buffers.FindDamaged(); damaged != nullptr) {
      End(report_, RunOutcome::kWrongOutput,
          std::string("wrote beyond the ends of buffer ") + damaged);
    }
    const std::vector<uint32_t> outputs = OutputsOf(kernel());
    if (outputs.size() != reference.output_count()) {
      End(report_, RunOutcome::kWrongOutput,
          "has " + std::to_string(outputs.size()) + " outputs, the reference " +
              std::to_string(reference.output_count()));
    }
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const hone_buffer& buffer = kernel().buffers[outputs[i]];
      uint64_t elements = 1;
      for (uint32_t axis = 0; axis < buffer.rank; ++axis) {
        elements *= static_cast<uint64_t>(buffer.shape[axis]);
      }
      if (elements != reference.element_count(i)) {
        End(report_, RunOutcome::kWrongOutput,
            std::string(buffer.name) + " has not as many elements as the reference");
      }
      const OutputVerdict verdict = CheckOutput(buffer, buffers.pointers()[outputs[i]],
                                                reference.Output(set, i), kernel().error_bound);
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
    TimedKernel timed(kernel(), *team_, plan.cold_constants != 0);
    if (!timed.SetUp(setup_.request.seed)) {
      End(report_, RunOutcome::kOutOfMemory, "no memory for the buffers it is timed with");
    }
    report_->cold_constants = plan.cold_constants;
    Say(kReady);
    while (Hear() == kRound) {
      const int64_t start_ns = Clock::Real().NowNs();
      Keep(Time(timed, plan));
      report_->timing_ns += Clock::Real().NowNs() - start_ns;
      Say(kDone);
    }
    if (report_->sample_count == 0) {
      End(report_, RunOutcome::kDeviceLost,
          "no chunk of " + std::to_string(report_->dirty_chunks) +
              " was undisturbed; keep other programs off the worker's cores");
    }
    End(report_, RunOutcome::kOk, "");
  }

  // A trial keeps all samples, a final one median a round.
  void Keep(const Timing& timing) {
    report_->dirty_chunks += timing.dirty_chunks;
    const auto keep = [this](double sample_ns, double calibrator_ns) {
      if (report_->sample_count >= kMaxSamples) return;
      report_->samples_ns[report_->sample_count] = sample_ns;
      report_->calibrator_ns[report_->sample_count] = calibrator_ns;
      report_->sample_count += 1;
    };
    if (setup_.request.rounds == 0) {
      for (size_t i = 0; i < timing.samples_ns.size(); ++i) {
        keep(timing.samples_ns[i], timing.calibrator_ns[i]);
      }
    } else if (!timing.samples_ns.empty()) {
      keep(Median(timing.samples_ns), Median(timing.calibrator_ns));
    }
  }

  void Say(char byte) { (void)!send(setup_.control_fd, &byte, 1, MSG_NOSIGNAL); }

  char Hear() {
    char byte = kEnd;
    return recv(setup_.control_fd, &byte, 1, 0) == 1 ? byte : static_cast<char>(kEnd);
  }

  const ChildSetup& setup_;
  RunReport* const report_;
  std::optional<ThreadTeam> team_;
  std::unique_ptr<Module> module_;
  std::optional<KernelRunner> runner_;
};

}  // namespace

void RunCandidateChild(const ChildSetup& setup) { Child(setup).RunCandidate(); }

void RunReferenceChild(const ChildSetup& setup) { Child(setup).RunReference(); }

}  // namespace hone::measure
