#include "measure_server/candidate_child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure_server/child_channel.h"
#include "measure_server/device_files.h"
#include "measure_server/kernel_buffers.h"
#include "measure_server/kernel_description.h"
#include "measure_server/measured_cores.h"
#include "measure_server/reference_file.h"
#include "measure_server/shared_places.h"
#include "measure_server/timed_kernel.h"
#include "runtime/cpu_device.h"
#include "runtime/device.h"
#include "runtime/find_device.h"
#include "runtime/kernel_runner.h"
#include "runtime/module.h"
#include "runtime/thread_team.h"

namespace hone::measure {
namespace {

// A worker's own priority over what else runs here, where the system allows it.
void TakePriority() {
  const sched_param priority{.sched_priority = kCandidatePriority};
  sched_setscheduler(0, SCHED_FIFO, &priority);
}

// What is not timed has none.
void DropPriority() {
  const sched_param priority{.sched_priority = 0};
  sched_setscheduler(0, SCHED_OTHER, &priority);
}

// A signal's own meaning, whatever libraries of the worker made of it: the zygote wants to see it.
void ResetSignals() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU, SIGTRAP}) {
    signal(number, SIG_DFL);
  }
}

// What a driver writes to standard output or error must not go into a file that it opens itself.
void OccupyStandardDescriptors() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0) dup2(null, descriptor);
  }
  if (null > 2) close(null);
}

class Child {
 public:
  explicit Child(const ChildSetup& setup) : setup_(setup) {}

  [[noreturn]] void RunCandidate() {
    KeepDescriptors({setup_.artifact_fd, setup_.control_fd, setup_.shared_fd});
    if (setup_.is_ahead) {
      SetUpAhead();
    } else {
      SetUp(/*is_timed=*/true);
    }
    EnterRunning();
    Share();
    Describe();
    if (setup_.request.has_reference != 0) RunForCheck();
    Measure();
    _exit(0);
  }

  [[noreturn]] void RunOpening() {
    KeepDescriptors({setup_.control_fd});
    Open(/*is_timed=*/false);
    Say(setup_.control_fd, Word::kDone);
    _exit(0);
  }

  [[noreturn]] void RunReference() {
    KeepDescriptors({setup_.artifact_fd, setup_.control_fd, setup_.reference_fd});
    SetUp(/*is_timed=*/false);
    ReferenceFile reference;
    std::string error;
    if (!reference.OpenForWriting(setup_.reference_fd, kernel(), &error)) {
      Fail(RunOutcome::kLoadError, error);
    }
    EnterRunning();
    SayStage(RunStage::kReference);
    for (const InputSet set : {InputSet::kExact, InputSet::kFloat}) {
      KernelBuffers buffers = KernelBuffers::Plain(kernel());
      Fill(buffers, set);
      RunOnce(buffers);
      reference.Write(set, kernel(), buffers.pointers());
    }
    reference.MarkComplete();
    Say(setup_.control_fd, Word::kDone);
    _exit(0);
  }

 private:
  const hone_kernel& kernel() const { return module_->table().kernels[0]; }

  // Ends the process: memory is not given back and destructors do not run, for the candidate may
  // have spoilt what they would touch.
  [[noreturn]] void Fail(RunOutcome outcome, const std::string& message) const {
    Say(setup_.control_fd, Word::kFailed, static_cast<uint64_t>(outcome), message);
    _exit(0);
  }
  [[noreturn]] void FailAtSystem(const char* what) const {
    Fail(RunOutcome::kDeviceLost, std::string(what) + " failed: " + std::strerror(errno));
  }
  void SayStage(RunStage stage) const {
    Say(setup_.control_fd, Word::kStage, static_cast<uint64_t>(stage));
  }

  void KeepDescriptors(std::vector<int> kept) const {
    if (!CloseAllBut(std::move(kept))) FailAtSystem("closing what it does not need");
    if (!is_on_host()) OccupyStandardDescriptors();
  }

  // Threads, limits, filter, and the artifact's code, in this order.
  void SetUp(bool is_timed) {
    Open(is_timed);
    if (!setup_.place->sandbox->EnterLoading(setup_.artifact_fd))
      FailAtSystem("entering the sandbox");
    Load();
  }

  // The driver's threads keep the cores that they started on.
  void SetUpAhead() {
    const OffMeasuredCores elsewhere(is_on_host() ? 0 : static_cast<int>(setup_.request.threads));
    SetUp(/*is_timed=*/true);
    if (ReceiveCommand(setup_.control_fd) != Command::kBegin) _exit(0);
  }

  void Open(bool is_timed) {
    const RunRequest& request = setup_.request;
    ResetSignals();
    // A driver's threads are as many as it likes.
    if (is_timed && is_on_host()) {
      TakePriority();
    } else {
      DropPriority();
    }
    // A driver starts threads, which have the limits that hold when they start. The team of the
    // host's threads is there before limits that would not let it begin.
    if (is_on_host()) OpenDevice();
    const ResourceLimits limits{request.memory_limit_bytes + OwnMemoryBytes(),
                                request.run_limit_ns * static_cast<int64_t>(request.threads)};
    if (!setup_.place->sandbox->EnterLimits(limits)) FailAtSystem("entering the sandbox");
    if (!is_on_host()) OpenDevice();
  }

  bool is_on_host() const { return setup_.place->device == kHostDevice; }
  Guard guard() const { return is_on_host() ? Guard::kPages : Guard::kZones; }

  void OpenDevice() {
    std::string error;
    if (!is_on_host()) {
      device_ = FindDevice(setup_.place->device, "", 1, &error);
      if (device_ == nullptr) Fail(RunOutcome::kDeviceLost, error + WhyBarred());
      return;
    }
    const auto team = std::make_shared<ThreadTeam>(static_cast<int>(setup_.request.threads),
                                                   ThreadTeam::Placement::kPinned);
    if (!team->error().empty()) Fail(RunOutcome::kDeviceLost, team->error());
    // Every thread has made the system calls of its start before they are forbidden.
    team->Run([](void*, int) {}, nullptr);
    device_ = std::make_shared<CpuDevice>(team);
  }

  // A driver that may not open the files of its devices says that there are none.
  static std::string WhyBarred() {
    const std::string files = BarredDeviceFiles();
    if (files.empty()) return "";
    return "; candidates run as user " + std::to_string(geteuid()) + ", who may not open " + files +
           ": start the worker as a user of such a group, or give the files a mode for all";
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
    SayStage(RunStage::kLoading);
    std::string error;
    module_ = Module::OpenDescriptor(setup_.artifact_fd, "the artifact", &error);
    if (module_ == nullptr) Fail(RunOutcome::kLoadError, error);
    if (module_->table().kernel_count != 1) {
      Fail(RunOutcome::kLoadError, "expected an artifact with one kernel");
    }
    CheckMemory();
    loaded_ = device_->Load(*module_, &error);
    if (loaded_ == nullptr) Fail(RunOutcome::kLoadError, error);
    runner_.emplace(module_->table(), kernel(), *loaded_);
    if (runner_->ok()) return;
    if (is_on_host()) Fail(RunOutcome::kOutOfMemory, "no memory for the scratch");
    Fail(RunOutcome::kLoadError, runner_->error());
  }

  // What a device does wrong while it runs a candidate is the candidate's crash.
  void CheckDevice() const {
    if (!device_->error().empty()) Fail(RunOutcome::kCrash, device_->error());
  }

  // The kernel's own tables say what it needs; the limit of the address space is for what they do
  // not.
  void CheckMemory() const {
    const uint64_t limit = setup_.request.memory_limit_bytes;
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < kernel().buffer_count; ++b) bytes += kernel().buffers[b].size_bytes;
    if (limit == 0 || bytes <= limit) return;
    Fail(RunOutcome::kOutOfMemory, "no memory for its buffers: they take " + std::to_string(bytes) +
                                       " bytes, the limit is " + std::to_string(limit));
  }

  void EnterRunning() const {
    if (!setup_.place->sandbox->EnterRunning()) FailAtSystem("entering the sandbox");
  }

  void Share() {
    places_.emplace(kernel().buffers, kernel().buffer_count, guard());
    if (!places_->ok()) Fail(RunOutcome::kOutOfMemory, "no memory for the buffers");
    void* const page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                            setup_.shared_fd, 0);
    if (page == MAP_FAILED) FailAtSystem("mapping shared memory");
    run_counter_ = static_cast<uint64_t*>(page);
  }

  void Describe() const {
    constexpr size_t kPieceBytes = 32 << 10;
    const std::string bytes = KernelDescription::Encode(kernel());
    for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
      const std::string piece = bytes.substr(at, kPieceBytes);
      Say(setup_.control_fd, Word::kDescribed, bytes.size() - at - piece.size(), piece);
    }
  }

  // Closing what is complete to writers.
  void Fill(KernelBuffers& buffers, InputSet set) const {
    if (!buffers.ok()) Fail(RunOutcome::kOutOfMemory, "no memory for the buffers");
    buffers.Fill(setup_.request.seed, set);
    buffers.Close(HONE_ROLE_INPUT);
    buffers.Close(HONE_ROLE_CONSTANT);
  }

  void RunOnce(KernelBuffers& buffers) {
    runner_->Bind(buffers.pointers());
    runner_->Run(HONE_PHASE_PREPARE);
    buffers.Close(HONE_ROLE_PREPARED);
    runner_->Run(HONE_PHASE_RUN);
    CheckDevice();
  }

  KernelBuffers BuffersForCheck() const {
    return is_on_host() ? KernelBuffers::Guarded(kernel(), *places_, setup_.shared_fd)
                        : KernelBuffers::Zoned(kernel(), *device_);
  }

  void RunForCheck() {
    for (const InputSet set : {InputSet::kExact, InputSet::kFloat}) {
      // The floats are kept for what is timed: constants can be many, and take long to make.
      checked_.reset();
      KernelBuffers& buffers = checked_.emplace(BuffersForCheck());
      Fill(buffers, set);
      if (ReceiveCommand(setup_.control_fd) != Command::kCheck) _exit(0);
      RunOnce(buffers);
      if (!buffers.Share(*places_, setup_.shared_fd)) {
        Fail(RunOutcome::kOutOfMemory, "no memory for the outputs");
      }
      CheckDevice();
      Say(setup_.control_fd, Word::kRan);
    }
  }

  void Measure() {
    const Plan& plan = setup_.request.plan;
    TimedKernel timed(module_->table(), kernel(), *loaded_, *device_);
    if (!timed.SetUp(setup_.request.seed, checked_ ? &*checked_ : nullptr)) {
      Fail(RunOutcome::kOutOfMemory, "no memory for the buffers it is timed with");
    }
    checked_.reset();
    timed.CountRunsAt(run_counter_);
    const bool rotate =
        plan.rotation_bytes != 0 &&
        timed.RotateConstants(plan.rotation_bytes, setup_.request.memory_limit_bytes);
    Say(setup_.control_fd, Word::kReady, rotate ? 1 : 0);
    while (true) {
      switch (ReceiveCommand(setup_.control_fd)) {
        case Command::kRound: {
          const std::string round = EncodeRound(RunRound(timed, plan));
          CheckDevice();
          Say(setup_.control_fd, Word::kRound, 0, round);
          break;
        }
        case Command::kOutputs:
          CopyOutputs(timed);
          CheckDevice();
          Say(setup_.control_fd, Word::kOutputs);
          break;
        default:
          return;
      }
    }
  }

  void CopyOutputs(const TimedKernel& timed) const {
    for (uint32_t b = 0; b < kernel().buffer_count; ++b) {
      const hone_buffer& buffer = kernel().buffers[b];
      if (buffer.role != HONE_ROLE_OUTPUT) continue;
      const MappedPlace into((*places_)[b], setup_.shared_fd);
      if (into.begin() == nullptr) Fail(RunOutcome::kOutOfMemory, "no memory for the outputs");
      const size_t data_at = GuardedExtent::Of(buffer.size_bytes, guard()).data_at;
      if (buffer.size_bytes > 0) {
        device_->CopyOut(into.begin() + data_at, timed.data(b), buffer.size_bytes);
      }
    }
  }

  const ChildSetup& setup_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<LoadedModule> loaded_;
  std::optional<KernelRunner> runner_;
  std::optional<SharedPlaces> places_;
  std::optional<KernelBuffers> checked_;  // of the newest set
  uint64_t* run_counter_ = nullptr;
};

}  // namespace

void RunCandidateChild(const ChildSetup& setup) { Child(setup).RunCandidate(); }

void RunReferenceChild(const ChildSetup& setup) { Child(setup).RunReference(); }

void RunOpeningChild(const ChildSetup& setup) { Child(setup).RunOpening(); }

}  // namespace hone::measure
