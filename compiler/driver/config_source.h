// The sources of kernels' configs.
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
  // The config's text as it is stored, which may lack knobs that were added later; empty if it is
  // not stored.
  std::string stored = "";
  // The digest of the nest that was measured. The config applies only if it still lowers to a nest
  // with this digest; empty if that is not to be checked.
  std::string nest_digest;
  double best_ns = 0;  // the best measured time; 0 if there is none
};

// Not thread-safe.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;
  // The config for a task; nullopt if the source knows none.
  virtual absl::StatusOr<std::optional<ConfigChoice>> Find(const schedule::Task& task) = 0;
  // The layouts that the newest final of the model with this skeleton kept: the signature of each
  // kernel call in execution order. After this call, Find answers with the configs that the final
  // kept. nullopt if the model has no final.
  virtual absl::StatusOr<std::optional<std::vector<std::string>>> OpenModel(
      const std::string& skeleton, const Target& target) {
    return std::nullopt;
  }
  // Announces what will be asked next: Find for these tasks, OpenModel for the skeleton unless it
  // is empty, and MicroKernels for the target. A source behind a network can then fetch all of it
  // in one call.
  virtual absl::Status Expect(const std::string& skeleton, const Target& target,
                              const std::vector<schedule::Task>& tasks) {
    return absl::OkStatus();
  }
  // The measured times of the target's micro-kernels, which defaults use; nullptr if there are
  // none.
  virtual absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernels(
      const CpuTarget& target) {
    return nullptr;
  }
};

// Asks its sources in turn; after the last one it takes the analytic default, so that there is
// always an answer. A config that no longer lowers to its nest digest counts as not found. The
// chain remembers answers but not errors, so it does not see what is measured after it was asked.
// Not thread-safe.
class ConfigChain {
 public:
  void Add(std::unique_ptr<ConfigSource> source) { sources_.push_back(std::move(source)); }

  struct Scheduled {
    ConfigChoice choice;
    schedule::LoweredConfig lowered;
  };
  absl::StatusOr<Scheduled> Schedule(const schedule::Task& task);
  // Announces to every source what it will be asked (ConfigSource::Expect), except for what the
  // chain remembers.
  absl::Status Expect(const std::string& skeleton, const Target& target,
                      const std::vector<schedule::Task>& tasks);
  // The answer of the first source that knows a final of the model. Call this before asking for the
  // model's kernels.
  absl::StatusOr<std::optional<std::vector<std::string>>> OpenModel(const std::string& skeleton,
                                                                    const Target& target);
  // The measured nanoseconds of one call with the config that Schedule gives; nullopt if that
  // config was not measured for this very task, as a compatible or default one.
  absl::StatusOr<std::optional<double>> MeasuredNs(const schedule::Task& task);

 private:
  // The first config that a source has and that still applies; nullopt if there is none.
  absl::StatusOr<std::optional<Scheduled>> Ask(const schedule::Task& task);
  // The same, remembered; nullptr if there is none.
  absl::StatusOr<const Scheduled*> Find(const schedule::Task& task);
  // The times from the first source that has them, remembered; nullptr if none has, or the target
  // is no CPU.
  absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernels(
      const Target& target);

  std::map<std::string, std::optional<Scheduled>> found_;  // by workload, signature and target
  std::map<std::string, std::shared_ptr<const schedule::MicroKernelTimes>> times_;  // by target
  std::vector<std::unique_ptr<ConfigSource>> sources_;
};

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_CONFIG_SOURCE_H_
