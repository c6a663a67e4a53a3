// What the tuner needs of the compiler: the space of a task, and what a config lowers to.
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

// A config lowered to its nest, as far as search and cost model look at it.
struct LoweredCandidate {
  std::string nest_digest;
  std::vector<float> features;  // empty where nobody knows any, as for devices of other kinds
  double estimate_ns = 0;       // analytic; 0 likewise
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
  // What a guided search tries after it (schedule::OpenTask::Ranked).
  virtual std::vector<schedule::Config> alternatives() const { return {}; }
  // The workload's; empty where nobody knows.
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
  // Threads of the target.
  virtual int threads() const = 0;
  // kInvalidArgument for a config that is none of the space.
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
