#include "compiler/driver/config_source.h"

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

absl::StatusOr<ConfigChain::Scheduled> ConfigChain::Schedule(const schedule::Task& task) {
  for (const std::unique_ptr<ConfigSource>& source : sources_) {
    HONE_ASSIGN_OR_RETURN(std::optional<ConfigChoice> choice, source->Find(task));
    if (!choice) continue;
    if (std::optional<loop::Nest> nest = Apply(task, *choice))
      return Scheduled{*std::move(choice), *std::move(nest)};
  }
  const schedule::Template& tmpl = schedule::TemplateFor(*task.def);
  ConfigChoice choice{.tier = "default", .config = tmpl.Default(task), .nest_digest = ""};
  HONE_ASSIGN_OR_RETURN(loop::Nest nest, tmpl.Schedule(task, choice.config));
  return Scheduled{std::move(choice), std::move(nest)};
}

}  // namespace hone::driver
