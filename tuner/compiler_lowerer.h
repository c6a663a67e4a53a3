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

// Shares the context of a task among its users as long as there are any. Thread-safe.
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
    std::shared_ptr<const schedule::MicroKernelTimes> micro_kernels;  // that its default is from
  };
  std::map<std::string, Opened> open_;  // by the three texts, the newest
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_COMPILER_LOWERER_H_
