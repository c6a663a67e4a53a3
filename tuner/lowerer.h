// What the tuner needs of the compiler: the search space of a task, and the nest that a config
// lowers to.
#ifndef HONE_TUNER_LOWERER_H_
#define HONE_TUNER_LOWERER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/space.h"

namespace hone::tuner {

// What search and cost model need to know about the nest that a config lowers to.
struct LoweredCandidate {
  std::string nest_digest;
  std::vector<float> features;  // empty for targets that are not CPUs
  double estimate_ns = 0;       // by the analytic model; 0 for targets that are not CPUs
  double error_bound = 0;
};

// A task and layout signature, ready to be searched. Immutable; thread-safe.
class TaskContext {
 public:
  TaskContext() = default;
  TaskContext(const TaskContext&) = delete;
  TaskContext& operator=(const TaskContext&) = delete;
  virtual ~TaskContext() = default;
  // Identifies this object in this process; caches of searches use it as their key.
  uint64_t serial() const { return serial_; }
  virtual const schedule::Space& space() const = 0;
  virtual const schedule::Config& default_config() const = 0;
  // The configs that a guided search tries after the default one (schedule::OpenTask::Ranked).
  virtual std::vector<schedule::Config> alternatives() const { return {}; }
  // The digest of the workload's anchor; empty where it is unknown.
  virtual std::string anchor_digest() const { return ""; }
  // The bytes of the kernel's constants, as the model holds them; 0 if it has none.
  virtual int64_t constant_bytes() const { return 0; }
  // The target's caches, in bytes: a core's own cache, and the last one before memory. 0: not
  // known.
  struct Caches {
    int64_t core = 0;
    int64_t last_level = 0;
  };
  virtual Caches caches() const { return {}; }
  // The number of the target's threads.
  virtual int threads() const = 0;
  // kInvalidArgument for a config that is not in the space.
  virtual absl::StatusOr<LoweredCandidate> Lower(const schedule::Config& config) const = 0;

 private:
  static uint64_t NextSerial() {
    static std::atomic<uint64_t> next{1};
    return next++;
  }
  const uint64_t serial_ = NextSerial();
};

// Thread-safe.
class Lowerer {
 public:
  virtual ~Lowerer() = default;
  // kInvalidArgument or kUnimplemented says what is wrong with the workload, signature or target.
  virtual absl::StatusOr<std::shared_ptr<const TaskContext>> Open(const std::string& workload,
                                                                  const std::string& signature,
                                                                  const std::string& target) = 0;
  // Whether configs measured on the other target are a good first guess on this one (the tier
  // `compatible`).
  virtual bool IsCompatible(const std::string& target, const std::string& other) const {
    return false;
  }
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_LOWERER_H_
