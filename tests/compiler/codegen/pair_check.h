// Runs what configs are compiled to beside the reference, as a worker checks candidates: on small
// integers and on floats, within the strategy's error bound, between red zones.
#ifndef HONE_TESTS_COMPILER_CODEGEN_PAIR_CHECK_H_
#define HONE_TESTS_COMPILER_CODEGEN_PAIR_CHECK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/codegen.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"

namespace hone::codegen {

// A workload on a target, with the template that schedules it. Stays where it is: the task points
// into it.
class TaskUnderTest {
 public:
  static absl::StatusOr<std::unique_ptr<TaskUnderTest>> Of(const std::string& workload,
                                                           const std::string& target);
  TaskUnderTest(const TaskUnderTest&) = delete;
  TaskUnderTest& operator=(const TaskUnderTest&) = delete;

  const ops::KernelDefinition& def() const { return def_; }
  const schedule::Template& schedule() const { return *template_; }
  const std::vector<ir::LayoutSignature>& signatures() const { return signatures_; }
  schedule::Task With(const ir::LayoutSignature& signature) const {
    return {&def_, signature, target_};
  }

 private:
  TaskUnderTest() = default;
  ops::KernelDefinition def_;
  CpuTarget target_;
  const schedule::Template* template_ = nullptr;
  std::vector<ir::LayoutSignature> signatures_;
};

// The bytes of a config's artifact, as builders make them.
absl::StatusOr<std::string> BuildArtifact(const schedule::Task& task,
                                          const schedule::Config& config, LaunchCache* cache);

// What a workload's outputs should be: of the reference nest, compiled for this machine. Small ones
// are interpreted too, and what was compiled must equal that.
class PairCheck {
 public:
  static absl::StatusOr<std::unique_ptr<PairCheck>> Of(const ops::KernelDefinition& def);
  ~PairCheck();

  // kInternal says what is wrong with the artifact's outputs, or what it wrote beyond.
  absl::Status Check(const std::string& artifact) const;

 private:
  PairCheck() = default;
  struct Expected;
  std::vector<Expected> sets_;  // of each set of inputs
};

// From here on a signal that ends the process says first what `pair` was: kernels may crash.
void NameInCrashes(const std::string& pair);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_PAIR_CHECK_H_
