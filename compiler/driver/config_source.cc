#include "compiler/driver/config_source.h"

#include "fmt/format.h"
#include "support/status.h"

namespace hone::driver {
namespace {

// The nest of a choice, or nullopt where the choice no longer holds today.
std::optional<loop::Nest> Apply(const schedule::Task& task, ConfigChoice& choice) {
  const schedule::Template& tmpl = schedule::TemplateFor(*task.def);
  const std::optional<schedule::Config> config = tmpl.MakeSpace(task).Migrate(choice.config);
  if (!config) return std::nullopt;
  absl::StatusOr<loop::Nest> nest = tmpl.Schedule(task, *config);
  if (!nest.ok()) return std::nullopt;
  if (!choice.nest_digest.empty() && schedule::NestDigest(*nest) != choice.nest_digest)
    return std::nullopt;
  choice.config = *config;
  return *std::move(nest);
}

}  // namespace

absl::StatusOr<const ConfigChain::Scheduled*> ConfigChain::Find(const schedule::Task& task) {
  if (sources_.empty()) return nullptr;
  const auto [it, is_new] = found_.try_emplace(fmt::format(
      "{} {} {}", task.def->workload.digest, task.signature.ToString(), task.target.ToString()));
  std::optional<Scheduled>& found = it->second;
  for (size_t i = 0; is_new && !found && i < sources_.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(std::optional<ConfigChoice> choice, sources_[i]->Find(task));
    if (!choice) continue;
    if (std::optional<loop::Nest> nest = Apply(task, *choice))
      found = Scheduled{*std::move(choice), *std::move(nest)};
  }
  return found ? &*found : nullptr;
}

absl::StatusOr<ConfigChain::Scheduled> ConfigChain::Schedule(const schedule::Task& task) {
  HONE_ASSIGN_OR_RETURN(const Scheduled* found, Find(task));
  if (found != nullptr) return *found;
  const schedule::Template& tmpl = schedule::TemplateFor(*task.def);
  ConfigChoice choice{.tier = "default", .config = tmpl.Default(task), .nest_digest = ""};
  HONE_ASSIGN_OR_RETURN(loop::Nest nest, tmpl.Schedule(task, choice.config));
  return Scheduled{std::move(choice), std::move(nest)};
}

absl::StatusOr<std::optional<double>> ConfigChain::MeasuredNs(const schedule::Task& task) {
  HONE_ASSIGN_OR_RETURN(const Scheduled* found, Find(task));
  if (found == nullptr || found->choice.best_ns <= 0) return std::nullopt;
  const bool is_here = found->choice.tier == "tuned" || found->choice.tier == "tuning";
  return is_here ? std::optional(found->choice.best_ns) : std::nullopt;
}

}  // namespace hone::driver
