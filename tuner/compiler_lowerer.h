// The Lowerer over the real compiler: workload text -> naive nest -> template, space, features.
#ifndef HONE_TUNER_COMPILER_LOWERER_H_
#define HONE_TUNER_COMPILER_LOWERER_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tuner/lowerer.h"

namespace hone::tuner {

// Keeps a task's context while somebody uses it. Thread-safe.
class CompilerLowerer : public Lowerer {
 public:
  absl::StatusOr<std::shared_ptr<const TaskContext>> Open(const std::string& workload,
                                                          const std::string& signature,
                                                          const std::string& target) override;
  bool IsCompatible(const std::string& target, const std::string& other) const override;

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const TaskContext>> open_;  // by the three texts
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_COMPILER_LOWERER_H_
