#include "tests/compiler/codegen/pair_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>

#include "compiler/codegen/kernel_spec.h"
#include "compiler/loop/interpreter.h"
#include "compiler/loop/reference.h"
#include "compiler/schedule/error_bound.h"
#include "measure_server/candidate_check.h"
#include "measure_server/kernel_buffers.h"
#include "measure_server/kernel_description.h"
#include "measure_server/output_check.h"
#include "measure_server/reference_file.h"
#include "measure_server/shared_places.h"
#include "runtime/memory.h"
#include "runtime/module.h"
#include "support/status.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

constexpr uint64_t kSeed = 11;
constexpr measure::InputSet kSets[] = {measure::InputSet::kExact, measure::InputSet::kFloat};

absl::StatusOr<std::unique_ptr<Module>> Load(const std::string& artifact) {
  std::string error;
  std::unique_ptr<Module> module = Module::OpenBytes(artifact.data(), artifact.size(), &error);
  if (module == nullptr) return absl::InternalError(error);
  return module;
}

// Memory between red zones.
class Scratch {
 public:
  explicit Scratch(uint64_t size_bytes) : size_bytes_(size_bytes), memory_(size_bytes + 2 * kRed) {
    Poison();
  }
  uint8_t* data() const { return memory_.data() + kRed; }
  void Poison() const { std::memset(memory_.data(), measure::kPoison, size_bytes_ + 2 * kRed); }
  bool IsIntact() const {
    const auto is_poison = [](uint8_t byte) { return byte == measure::kPoison; };
    return std::all_of(data() - kRed, data(), is_poison) &&
           std::all_of(data() + size_bytes_, data() + size_bytes_ + kRed, is_poison);
  }

 private:
  static constexpr uint64_t kRed = 4096;
  const uint64_t size_bytes_;
  const Memory memory_;
};

// Guarded buffers of a kernel, and the check of what is around them.
class CheckedBuffers {
 public:
  explicit CheckedBuffers(const hone_kernel& kernel)
      : places_(kernel.buffers, kernel.buffer_count),
        check_(*measure::KernelDescription::Decode(measure::KernelDescription::Encode(kernel)),
               nullptr),
        is_mapped_(check_.Map(shared_.fd())),
        buffers_(measure::KernelBuffers::Guarded(kernel, places_, shared_.fd())) {
    if (is_mapped_) check_.Poison();
  }

  bool ok() const { return is_mapped_ && buffers_.ok(); }
  measure::KernelBuffers& buffers() { return buffers_; }
  void* const* pointers() const { return buffers_.pointers().data(); }
  std::string FindDamaged() const { return check_.FindDamaged(); }

 private:
  const measure::SharedFile shared_;
  const measure::SharedPlaces places_;
  measure::CandidateCheck check_;
  const bool is_mapped_;
  measure::KernelBuffers buffers_;
};

// The launches of a phase, the grid of each in pieces of `piece`, the last first. NaN is in the
// scratch of each piece before, and nothing may be written beyond it.
absl::Status RunPhase(const hone_kernel& kernel, uint32_t phase, void* const* buffers,
                      int64_t piece) {
  for (uint32_t i = 0; i < kernel.launch_count; ++i) {
    const hone_launch& launch = kernel.launches[i];
    if (launch.phase != phase) continue;
    const Scratch scratch(launch.scratch_bytes);
    for (int64_t end = launch.grid_extent; end > 0; end -= piece) {
      if (!scratch.IsIntact()) break;
      scratch.Poison();
      launch.function(buffers, std::max<int64_t>(0, end - piece), end, scratch.data());
    }
    if (!scratch.IsIntact()) {
      return absl::InternalError(fmt::format("{} wrote beyond its scratch", launch.name));
    }
  }
  return absl::OkStatus();
}

absl::Status Run(const hone_kernel& kernel, measure::InputSet set, int64_t piece,
                 CheckedBuffers& checked) {
  if (!checked.ok()) return absl::ResourceExhaustedError("no memory for the buffers");
  measure::KernelBuffers& buffers = checked.buffers();
  buffers.Fill(kSeed, set);
  buffers.Close(HONE_ROLE_INPUT);
  buffers.Close(HONE_ROLE_CONSTANT);
  HONE_RETURN_IF_ERROR(RunPhase(kernel, HONE_PHASE_PREPARE, checked.pointers(), piece));
  buffers.Close(HONE_ROLE_PREPARED);
  HONE_RETURN_IF_ERROR(RunPhase(kernel, HONE_PHASE_RUN, checked.pointers(), piece));
  const std::string damage = checked.FindDamaged();
  return damage.empty() ? absl::OkStatus() : absl::InternalError(damage);
}

// Compiled and interpreted float64 differ by what is contracted into one rounding, and by how
// functions are approximated.
bool Agree(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)) + 1e-12;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TaskUnderTest>> TaskUnderTest::Of(const std::string& workload,
                                                                 const std::string& target) {
  std::unique_ptr<TaskUnderTest> task(new TaskUnderTest());
  HONE_ASSIGN_OR_RETURN(task->def_, ops::LowerWorkload(workload));
  HONE_ASSIGN_OR_RETURN(task->target_, CpuTarget::Parse(target));
  task->template_ = &schedule::TemplateFor(task->def_);
  task->signatures_ = task->template_->Signatures(task->def_, machine::Machine::For(task->target_));
  return task;
}

absl::StatusOr<std::string> BuildArtifact(const schedule::Task& task,
                                          const schedule::Config& config, LaunchCache* cache) {
  ModuleSpec module;
  module.target = task.target;
  HONE_ASSIGN_OR_RETURN(schedule::LoweredConfig lowered, schedule::LowerConfig(task, config));
  module.kernels.push_back(KernelSpecOf(*task.def, config, std::move(lowered)));
  return BuildModule(module, nullptr, cache);
}

struct PairCheck::Expected {
  std::vector<std::vector<double>> values;
  std::vector<std::vector<double>> magnitudes;
};

PairCheck::~PairCheck() = default;

absl::StatusOr<std::unique_ptr<PairCheck>> PairCheck::Of(const ops::KernelDefinition& def) {
  const loop::Nest nest = loop::ReferenceNest(def.naive, schedule::ErrorBound(def));
  ModuleSpec spec;
  HONE_ASSIGN_OR_RETURN(spec.target, CpuTarget::Parse("native"));
  spec.kernels.emplace_back().nest = nest;
  spec.kernels[0].name = nest.name;
  HONE_ASSIGN_OR_RETURN(const std::string artifact, BuildModule(spec));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, Load(artifact));
  const hone_kernel& kernel = module->table().kernels[0];
  constexpr double kInterpreted = 50000;
  std::unique_ptr<PairCheck> check(new PairCheck());
  for (const measure::InputSet set : kSets) {
    CheckedBuffers buffers(kernel);
    HONE_RETURN_IF_ERROR(Run(kernel, set, int64_t{1} << 30, buffers));
    measure::KernelBuffers twin = measure::KernelBuffers::Plain(kernel);
    const bool interprets = def.flops < kInterpreted;
    if (interprets) {
      twin.Fill(kSeed, set);
      HONE_RETURN_IF_ERROR(loop::Interpret(nest, twin.pointers()));
    }
    Expected expected;
    bool is_value = true;
    for (const uint32_t output : measure::OutputsOf(kernel)) {
      const auto* data = static_cast<const double*>(buffers.pointers()[output]);
      const auto* same = static_cast<const double*>(twin.pointers()[output]);
      const size_t count = kernel.buffers[output].size_bytes / sizeof(double);
      for (size_t i = 0; interprets && i < count; ++i) {
        if (Agree(data[i], same[i])) continue;
        return absl::InternalError(
            fmt::format("the reference's {}[{}] is {} compiled, {} interpreted",
                        kernel.buffers[output].name, i, data[i], same[i]));
      }
      (is_value ? expected.values : expected.magnitudes).emplace_back(data, data + count);
      is_value = !is_value;
    }
    check->sets_.push_back(std::move(expected));
  }
  return check;
}

absl::Status PairCheck::Check(const std::string& artifact) const {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, Load(artifact));
  const hone_kernel& kernel = module->table().kernels[0];
  const std::vector<uint32_t> outputs = measure::OutputsOf(kernel);
  for (size_t s = 0; s < std::size(kSets); ++s) {
    const int64_t piece = s == 0 ? 3 : int64_t{1} << 30;
    CheckedBuffers buffers(kernel);
    HONE_RETURN_IF_ERROR(Run(kernel, kSets[s], piece, buffers));
    if (outputs.size() != sets_[s].values.size()) {
      return absl::InternalError("has not as many outputs as the reference");
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const measure::OutputVerdict verdict = measure::CheckOutput(
          kernel.buffers[outputs[i]], buffers.pointers()[outputs[i]],
          {sets_[s].values[i].data(), sets_[s].magnitudes[i].data()}, kernel.error_bound);
      if (!verdict.ok) {
        return absl::InternalError(
            fmt::format("{} (inputs: {})", verdict.message, s == 0 ? "small integers" : "floats"));
      }
    }
  }
  return absl::OkStatus();
}

// ---- crashes ----

namespace {

char current_pair[4096];

void SayAndEnd(int number) {
  (void)!write(STDERR_FILENO, current_pair, std::strlen(current_pair));
  signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

void NameInCrashes(const std::string& pair) {
  const size_t length = std::min(pair.size(), sizeof(current_pair) - 2);
  std::memcpy(current_pair, pair.data(), length);
  std::memcpy(current_pair + length, "\n", 2);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) signal(number, SayAndEnd);
}

}  // namespace hone::codegen
