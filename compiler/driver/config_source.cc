#include "compiler/driver/config_source.h"

#include "fmt/format.h"
#include "support/status.h"

namespace hone::driver {
namespace {

// What the choice lowers to, or nullopt where it no longer holds today.
std::optional<schedule::LoweredConfig> Apply(const schedule::OpenTask& open, ConfigChoice& choice) {
  const std::optional<schedule::Config> config = open.space().Migrate(choice.config);
  if (!config) return std::nullopt;
  absl::StatusOr<schedule::LoweredConfig> lowered = open.Lower(*config);
  if (!lowered.ok()) return std::nullopt;
  if (!choice.nest_digest.empty() && schedule::NestDigest(lowered->nest) != choice.nest_digest)
    return std::nullopt;
  choice.config = *config;
  return *std::move(lowered);
}

std::string KeyOf(const schedule::Task& task) {
  return fmt::format("{} {} {}", task.def->workload.digest, task.signature.ToString(),
                     task.target.ToString());
}

}  // namespace

absl::Status ConfigChain::Expect(const std::string& skeleton, const Target& target,
                                 const std::vector<schedule::Task>& tasks) {
  if (sources_.empty()) return absl::OkStatus();
  std::vector<schedule::Task> unknown;
  for (const schedule::Task& task : tasks) {
    if (!found_.contains(KeyOf(task))) unknown.push_back(task);
  }
  for (const std::unique_ptr<ConfigSource>& source : sources_) {
    HONE_RETURN_IF_ERROR(source->Expect(skeleton, target, unknown));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ConfigChain::Scheduled>> ConfigChain::Ask(const schedule::Task& task) {
  for (const std::unique_ptr<ConfigSource>& source : sources_) {
    HONE_ASSIGN_OR_RETURN(std::optional<ConfigChoice> choice, source->Find(task));
    if (!choice) continue;
    HONE_ASSIGN_OR_RETURN(const schedule::OpenTask open, schedule::OpenTask::Open(task));
    if (std::optional<schedule::LoweredConfig> lowered = Apply(open, *choice))
      return Scheduled{*std::move(choice), *std::move(lowered)};
  }
  return std::nullopt;
}

absl::StatusOr<const ConfigChain::Scheduled*> ConfigChain::Find(const schedule::Task& task) {
  if (sources_.empty()) return nullptr;
  std::string key = KeyOf(task);
  auto it = found_.find(key);
  if (it == found_.end()) {
    // A source's error is no answer: the next to ask is told of it too.
    HONE_ASSIGN_OR_RETURN(std::optional<Scheduled> found, Ask(task));
    it = found_.emplace(std::move(key), std::move(found)).first;
  }
  return it->second ? &*it->second : nullptr;
}

absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> ConfigChain::MicroKernels(
    const Target& target) {
  const CpuTarget* const cpu = target.AsCpu();
  if (cpu == nullptr) return nullptr;
  const std::string key = cpu->ToString();
  const auto known = times_.find(key);
  if (known != times_.end()) return known->second;
  std::shared_ptr<const schedule::MicroKernelTimes> times;
  for (const std::unique_ptr<ConfigSource>& source : sources_) {
    HONE_ASSIGN_OR_RETURN(times, source->MicroKernels(*cpu));
    if (times != nullptr) break;
  }
  return times_[key] = std::move(times);
}

absl::StatusOr<ConfigChain::Scheduled> ConfigChain::Schedule(const schedule::Task& task) {
  HONE_ASSIGN_OR_RETURN(const Scheduled* found, Find(task));
  if (found != nullptr) return *found;
  schedule::Task measured = task;
  HONE_ASSIGN_OR_RETURN(measured.micro_kernels, MicroKernels(task.target));
  HONE_ASSIGN_OR_RETURN(const schedule::OpenTask open,
                        schedule::OpenTask::Open(std::move(measured)));
  ConfigChoice choice{.tier = "default", .config = open.Default(), .nest_digest = ""};
  absl::StatusOr<schedule::LoweredConfig> lowered = open.Lower(choice.config);
  if (!lowered.ok()) {
    return absl::InternalError(fmt::format(
        "the default config {} of template {} does not schedule '{}' ({}): {}; this is a bug of "
        "Hone: please report it",
        choice.config.ToText(), open.template_name(), task.def->workload.text,
        task.signature.ToString(), std::string(lowered.status().message())));
  }
  return Scheduled{std::move(choice), *std::move(lowered)};
}

absl::StatusOr<std::optional<std::vector<std::string>>> ConfigChain::OpenModel(
    const std::string& skeleton, const Target& target) {
  for (const std::unique_ptr<ConfigSource>& source : sources_) {
    HONE_ASSIGN_OR_RETURN(auto layouts, source->OpenModel(skeleton, target));
    if (layouts) return layouts;
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<double>> ConfigChain::MeasuredNs(const schedule::Task& task) {
  HONE_ASSIGN_OR_RETURN(const Scheduled* found, Find(task));
  if (found == nullptr || found->choice.best_ns <= 0) return std::nullopt;
  const bool is_here = found->choice.tier == "tuned" || found->choice.tier == "tuning";
  return is_here ? std::optional(found->choice.best_ns) : std::nullopt;
}

}  // namespace hone::driver
