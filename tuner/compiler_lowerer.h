// The Lowerer that uses the compiler: workload text -> naive nest -> template, space, features.
#ifndef HONE_TUNER_COMPILER_LOWERER_H_
#define HONE_TUNER_COMPILER_LOWERER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "compiler/schedule/micro_kernels.h"
#include "tuner/lowerer.h"

namespace hone::tuner {

// Callers who open the same task share one context for as long as any of them holds it.
// Thread-safe.
class CompilerLowerer : public Lowerer {
 public:
  // Gives the times of a target's micro-kernels when a task is opened; nullptr if there are none.
  using MicroKernels =
      std::function<std::shared_ptr<const schedule::MicroKernelTimes>(const CpuTarget& target)>;
  explicit CompilerLowerer(MicroKernels micro_kernels = nullptr)
      : micro_kernels_(std::move(micro_kernels)) {}

  absl::StatusOr<std::shared_ptr<const TaskContext>> Open(const std::string& workload,
                                                          const std::string& signature,
                                                          const std::string& target) override;
  bool IsCompatible(const std::string& target, const std::string& other) const override;

 private:
  const MicroKernels micro_kernels_;
  std::mutex mutex_;
  struct Opened {
    std::weak_ptr<const TaskContext> context;
    // The times that the context's default config was chosen with.
    std::shared_ptr<const schedule::MicroKernelTimes> micro_kernels;
  };
  std::map<std::string, Opened> open_;  // by workload, signature and target: the newest context
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_COMPILER_LOWERER_H_
