// Where a kernel's config comes from.
#ifndef HONE_COMPILER_DRIVER_CONFIG_SOURCE_H_
#define HONE_COMPILER_DRIVER_CONFIG_SOURCE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/open_task.h"

namespace hone::driver {

// A config and the tier it comes from: "tuned", "tuning", "compatible", "transferred", "default".
struct ConfigChoice {
  std::string tier;
  schedule::Config config;
  // The config's text where it is stored, which may lack knobs that came since; empty: not stored.
  std::string stored = "";
  // The digest of the nest it was measured as; empty: not checked. A config applies only while it
  // lowers to this.
  std::string nest_digest;
  double best_ns = 0;  // as it was measured; 0: it was not
};

// Not thread-safe.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;
  // nullopt: knows nothing of this task.
  virtual absl::StatusOr<std::optional<ConfigChoice>> Find(const schedule::Task& task) = 0;
  // The layouts that the newest final of the model with this skeleton kept: the signature of each
  // kernel call in execution order. From here on Find answers what that final kept of each kernel.
  // nullopt: the model has no final.
  virtual absl::StatusOr<std::optional<std::vector<std::string>>> OpenModel(
      const std::string& skeleton, const Target& target) {
    return std::nullopt;
  }
  // All that will be asked of a model next: of these tasks Find, of the skeleton (empty: none)
  // OpenModel, of the target MicroKernels. Whoever is far from what it knows fetches it at once.
  virtual absl::Status Expect(const std::string& skeleton, const Target& target,
                              const std::vector<schedule::Task>& tasks) {
    return absl::OkStatus();
  }
  // What is known of the target's micro-kernels, for defaults; nullptr: nothing.
  virtual absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernels(
      const CpuTarget& target) {
    return nullptr;
  }
};

// Asks each source in turn; what the last one, the analytic default, answers is always an answer. A
// config that no longer lowers to its nest digest counts as not found. Answers are remembered,
// errors are not: a chain is of one moment. Not thread-safe.
class ConfigChain {
 public:
  void Add(std::unique_ptr<ConfigSource> source) { sources_.push_back(std::move(source)); }

  struct Scheduled {
    ConfigChoice choice;
    schedule::LoweredConfig lowered;
  };
  absl::StatusOr<Scheduled> Schedule(const schedule::Task& task);
  // Tells every source what it will be asked of a model, but for what is remembered.
  absl::Status Expect(const std::string& skeleton, const Target& target,
                      const std::vector<schedule::Task>& tasks);
  // The answer of the first source that knows a final of the model; to be asked before its kernels
  // are.
  absl::StatusOr<std::optional<std::vector<std::string>>> OpenModel(const std::string& skeleton,
                                                                    const Target& target);
  // The nanoseconds of one call as they were measured for this very task, with the config that
  // Schedule gives; nullopt for what is compatible, default or unknown.
  absl::StatusOr<std::optional<double>> MeasuredNs(const schedule::Task& task);

 private:
  // The first config that holds; nullopt: no source has one.
  absl::StatusOr<std::optional<Scheduled>> Ask(const schedule::Task& task);
  // The same, remembered; nullptr: none.
  absl::StatusOr<const Scheduled*> Find(const schedule::Task& task);
  // The times that the first source which knows them gives, remembered; nullptr: none does, or the
  // target is no CPU.
  absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernels(
      const Target& target);

  std::map<std::string, std::optional<Scheduled>> found_;  // by workload, signature and target
  std::map<std::string, std::shared_ptr<const schedule::MicroKernelTimes>> times_;  // by target
  std::vector<std::unique_ptr<ConfigSource>> sources_;
};

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_CONFIG_SOURCE_H_
