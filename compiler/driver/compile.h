// Compiles a model to a module, and reports what was chosen for each kernel.
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

// Runs the passes up to and including `after`. If that is empty, runs all of them: main then
// consists of calls of fused functions with layout signatures, which are chosen from the times that
// `configs` knows (nullptr: none). `on_pass` is called after each pass (passes/pipeline.h).
using OnPass = std::function<void(const std::string& pass, const ir::Module& module, int64_t ns)>;
absl::StatusOr<ir::Module> RunPasses(const ir::Module& module, const Target& target,
                                     const std::string& after = "", const OnPass& on_pass = nullptr,
                                     ConfigChain* configs = nullptr,
                                     passes::LayoutAim aim = passes::LayoutAim::kSettled);
// Runs one pass by its name on a module with or without types; "InferTypes" only infers types.
absl::StatusOr<ir::Module> RunPass(const ir::Module& module, const Target& target,
                                   const std::string& name);

// What a model is compiled to, as text for people: the scheduled nests of its kernels, LLVM IR or
// assembly.
enum class CodeForm { kNests, kLlvmIr, kAssembly };
absl::StatusOr<std::string> GeneratedCode(const ir::Module& module, const Target& target,
                                          ConfigChain& configs, CodeForm form);

// A kernel of a model, as it is submitted for tuning.
struct TuningTask {
  std::string name;
  std::shared_ptr<const ops::KernelDefinition> def;
  ir::LayoutSignature signature;
  double weight = 1;                      // the number of calls in the model with this signature
  std::vector<int> specialisations = {};  // those that call it, ascending
};
struct ModelTasks {
  std::vector<TuningTask> tasks;
  // The constants after the passes, before they are prepared, of the specialisation with the most.
  uint64_t constant_bytes = 0;
};
// The tasks of a model. `modules` are its specialisations, which differ in the shapes of inputs;
// there is at least one. Kernels have the layouts that Compile chooses, or with kExplore those that
// are predicted to be faster still.
absl::StatusOr<ModelTasks> TasksOf(std::span<const ir::Module> modules, const Target& target,
                                   ConfigChain* configs = nullptr,
                                   passes::LayoutAim aim = passes::LayoutAim::kSettled);
inline absl::StatusOr<ModelTasks> TasksOf(const ir::Module& module, const Target& target,
                                          ConfigChain* configs = nullptr,
                                          passes::LayoutAim aim = passes::LayoutAim::kSettled) {
  return TasksOf(std::span(&module, 1), target, configs, aim);
}
// The kernels that have no measurement, in the layouts that Compile chooses when nothing is
// measured. A tune measures them too. Otherwise a kernel that is known by predictions alone could
// lose to a slower one that a tune of another model happened to measure.
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
  std::string nest_digest = "";  // this and `stored` are set by ChooseKernels only
  std::string stored = "";       // ConfigChoice::stored
  double flops = 0;
  int64_t calls = 0;  // in all specialisations; a call in a repeat counts once per trip
  std::vector<int> specialisations = {};  // those that call it, ascending
};

// Whether the kernel's tier is "tuned", which --require-tuned asks for.
bool IsTuned(const KernelReport& kernel);

// One specialisation of the model: main for certain shapes of its inputs.
struct SpecialisationReport {
  std::vector<ir::TensorType> inputs;
  std::vector<std::string> names;  // of the inputs
  int calls = 0;                   // of kernels
  uint64_t arena_bytes = 0;
  uint64_t peak_live_bytes = 0;  // the most bytes of the arena that are alive at once
  std::string skeleton;          // passes/skeleton.h
  // The signatures of the kernels in execution order, without the kernels that copy between
  // layouts.
  std::vector<std::string> layouts;
};

struct CompileReport {
  std::string target;
  std::vector<KernelReport> kernels;
  std::vector<SpecialisationReport> specialisations;
  uint64_t arena_bytes = 0;  // this and the next are of the specialisation with the largest arena
  uint64_t peak_live_bytes = 0;
  uint64_t parameters_bytes = 0;
  // Seconds of the phases, in order: "passes", "schedule", "plan", "code", "prepare" (the
  // constants, and their bytes to the file), "write" (the file to the disk).
  std::vector<std::pair<std::string, double>> seconds;
};

// What Compile would choose for one specialisation. The report has `kernels`, and in
// `specialisations` the skeleton and the layouts only. No code is generated.
absl::StatusOr<CompileReport> ChooseKernels(const ir::Module& module, const Target& target,
                                            ConfigChain& configs);

struct CompileOptions {
  Target target;
  // If a kernel's tier is less than "tuned", Compile fails before any code is generated;
  // kFailedPrecondition lists the kernels.
  bool require_tuned = false;
};

// Writes the module to `path`: the whole file, or on any error nothing. `modules` are
// specialisations of one model, which differ in the shapes of inputs; there is at least one.
// Kernels and constants that are equal in several of them are stored once. If the modules are moved
// in, their weights are freed on the way: those of one specialisation alone before the next goes
// through the passes, shared ones when they are written. The peak of memory is then the weights and
// what one kernel call prepares from its own.
absl::StatusOr<CompileReport> Compile(std::vector<ir::Module> modules,
                                      const CompileOptions& options, ConfigChain& configs,
                                      const std::string& path);
absl::StatusOr<CompileReport> Compile(ir::Module module, const CompileOptions& options,
                                      ConfigChain& configs, const std::string& path);

// Whether the status is Compile's refusal because of `require_tuned`, and not another
// kFailedPrecondition.
bool IsNotTuned(const absl::Status& status);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_COMPILE_H_
