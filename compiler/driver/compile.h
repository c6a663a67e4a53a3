// The whole way from a model to a module, in one readable function, and its report.
#ifndef HONE_COMPILER_DRIVER_COMPILE_H_
#define HONE_COMPILER_DRIVER_COMPILE_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/config_source.h"
#include "compiler/driver/kernel_graph.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/target.h"
#include "compiler/passes/pass.h"

namespace hone::driver {

// Through the passes up to `after`; empty: all of them, to calls of fused functions with layout
// signatures, chosen by what `configs` have measured (nullptr: nothing).
// `on_pass` sees each step (passes/pipeline.h).
using OnPass = std::function<void(const std::string& pass, const ir::Module& module, int64_t ns)>;
absl::StatusOr<ir::Module> RunPasses(const ir::Module& module, const Target& target,
                                     const std::string& after = "", const OnPass& on_pass = nullptr,
                                     ConfigChain* configs = nullptr,
                                     passes::LayoutAim aim = passes::LayoutAim::kSettled);
// One pass by its name, on a module that may or may not have types; "InferTypes" only infers them.
absl::StatusOr<ir::Module> RunPass(const ir::Module& module, const Target& target,
                                   const std::string& name);

// What a model becomes, for people: its kernels' scheduled nests, LLVM IR or assembly.
enum class CodeForm { kNests, kLlvmIr, kAssembly };
absl::StatusOr<std::string> GeneratedCode(const ir::Module& module, const Target& target,
                                          ConfigChain& configs, CodeForm form);

// A kernel of a model, as it is submitted for tuning.
struct TuningTask {
  std::string name;
  std::shared_ptr<const ops::KernelDefinition> def;
  ir::LayoutSignature signature;
  double weight = 1;                      // calls in the model, in these layouts
  std::vector<int> specialisations = {};  // that call it, ascending
};
struct ModelTasks {
  std::vector<TuningTask> tasks;
  uint64_t constant_bytes = 0;  // of the model after the passes, each constant once, unprepared
};
// `modules`: specialisations of one model, by the shapes of its inputs, at least one. With the
// layouts that Compile chooses, or, to explore, with those that seem faster still.
absl::StatusOr<ModelTasks> TasksOf(std::span<const ir::Module> modules, const Target& target,
                                   ConfigChain* configs = nullptr,
                                   passes::LayoutAim aim = passes::LayoutAim::kSettled);
inline absl::StatusOr<ModelTasks> TasksOf(const ir::Module& module, const Target& target,
                                          ConfigChain* configs = nullptr,
                                          passes::LayoutAim aim = passes::LayoutAim::kSettled) {
  return TasksOf(std::span(&module, 1), target, configs, aim);
}
// In the layouts that Compile chooses where nothing is measured the kernels that are not. A tune
// measures them too: known by predictions alone they could lose to what other models left measured,
// though they are faster.
absl::StatusOr<std::vector<TuningTask>> UnmeasuredDefaults(std::span<const ir::Module> modules,
                                                           const Target& target,
                                                           ConfigChain& configs);

struct KernelReport {
  std::string name;
  std::string workload;
  std::string workload_digest;
  std::string signature;
  std::string tier;
  std::string config;
  std::string nest_digest = "";  // these two: of ChooseKernels only
  std::string stored = "";       // ConfigChoice::stored
  double flops = 0;
  int64_t calls = 0;                      // of all specialisations, in every trip of repeats
  std::vector<int> specialisations = {};  // that call it, ascending
};

// Whether it is of the tier "tuned", which --require-tuned asks for.
bool IsTuned(const KernelReport& kernel);

// Main for certain shapes of its inputs.
struct SpecialisationReport {
  std::vector<ir::TensorType> inputs;
  std::vector<std::string> names;  // of the inputs
  int calls = 0;                   // of kernels
  uint64_t arena_bytes = 0;
  uint64_t peak_live_bytes = 0;  // of the arena, where most is alive at once
  std::string skeleton;          // passes/skeleton.h
  // Signatures of the kernels in execution order, before copies between layouts came in.
  std::vector<std::string> layouts;
};

struct CompileReport {
  std::string target;
  std::vector<KernelReport> kernels;
  std::vector<SpecialisationReport> specialisations;
  uint64_t arena_bytes = 0;  // these two: of the specialisation with the largest arena
  uint64_t peak_live_bytes = 0;
  uint64_t parameters_bytes = 0;
  // Seconds of the phases, in order: "passes", "schedule", "plan", "code", "prepare" (the
  // constants, and their bytes to the file), "write" (the file to the disk).
  std::vector<std::pair<std::string, double>> seconds;
};

// What Compile would choose for one specialisation: `kernels`, and of `specialisations` the
// skeleton and layouts. No code is generated.
absl::StatusOr<CompileReport> ChooseKernels(const ir::Module& module, const Target& target,
                                            ConfigChain& configs);

struct CompileOptions {
  Target target;
  // Refuses, before any code is generated, when a kernel's tier is less than "tuned":
  // kFailedPrecondition lists the kernels.
  bool require_tuned = false;
};

// Writes the module to `path`: whole or, on any error, not at all. `modules` are specialisations of
// one model, by the shapes of its inputs, at least one; kernels and constants that are equal in
// several are there once. Modules that are moved here free their weights: each one's own before the
// next goes through the passes, what they share as it is written. What is alive at worst is the
// weights and what one kernel call makes of its own.
absl::StatusOr<CompileReport> Compile(std::vector<ir::Module> modules,
                                      const CompileOptions& options, ConfigChain& configs,
                                      const std::string& path);
absl::StatusOr<CompileReport> Compile(ir::Module module, const CompileOptions& options,
                                      ConfigChain& configs, const std::string& path);

// Whether this is Compile's refusal because of `require_tuned`, and no other kFailedPrecondition.
bool IsNotTuned(const absl::Status& status);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_COMPILE_H_
