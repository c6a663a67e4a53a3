// `hone explain`: which config each kernel of a model would get today, and why; compiles nothing.
#include "CLI/CLI.hpp"
#include "cli/config_options.h"
#include "cli/json_document.h"
#include "cli/model_options.h"
#include "cli/verb.h"
#include "compiler/driver/compile.h"
#include "compiler/ir/target.h"
#include "compiler/schedule/open_task.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct ExplainOptions {
  ModelOptions model;
  TargetOptions target;
  ConfigOptions configs;
  bool json = false;
};

absl::Status Explain(const ExplainOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Target target, options.target.ResolveAny());
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Module> modules, LoadSpecialisations(options.model));
  HONE_ASSIGN_OR_RETURN(driver::ConfigChain configs, options.configs.Open());
  HONE_ASSIGN_OR_RETURN(const driver::ModelTasks work, driver::TasksOf(modules, target, &configs));
  nlohmann::json kernels = nlohmann::json::array();
  for (const driver::TuningTask& task : work.tasks) {
    const schedule::Task scheduled{
        .def = task.def.get(), .signature = task.signature, .target = target};
    HONE_ASSIGN_OR_RETURN(const driver::ConfigChain::Scheduled chosen, configs.Schedule(scheduled));
    HONE_ASSIGN_OR_RETURN(const schedule::OpenTask open, schedule::OpenTask::Open(scheduled));
    kernels.push_back({{"name", task.name},
                       {"workload", task.def->workload.text},
                       {"signature", task.signature.ToString()},
                       {"template", std::string(open.template_name())},
                       {"tier", chosen.choice.tier},
                       {"config", chosen.choice.config.ToText()},
                       {"calls", task.weight},
                       {"specialisations", task.specialisations}});
  }
  std::vector<std::string> specialisations;
  for (const ir::Module& module : modules) specialisations.push_back(InputShapes(module));
  if (options.json) {
    const nlohmann::json document = {{"schema", 1},
                                     {"target", target.ToString()},
                                     {"specialisations", specialisations},
                                     {"kernels", kernels}};
    PrintDocument(document);
    return absl::OkStatus();
  }
  fmt::print("target: {}\n", target.ToString());
  for (const nlohmann::json& kernel : kernels) {
    fmt::print(
        "\n{} ({} calls)\n  workload   {}\n  signature  {}\n  template   {}\n  tier       {}\n  "
        "config     {}\n",
        kernel["name"].get<std::string>(), kernel["calls"].get<double>(),
        kernel["workload"].get<std::string>(), kernel["signature"].get<std::string>(),
        kernel["template"].get<std::string>(), kernel["tier"].get<std::string>(),
        kernel["config"].get<std::string>());
    if (modules.size() > 1) {
      std::vector<std::string> inputs;
      for (const nlohmann::json& s : kernel["specialisations"]) {
        inputs.push_back(specialisations[s.get<size_t>()]);
      }
      fmt::print("  called by  {}\n", fmt::join(inputs, "; "));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddExplain(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App& verb =
      *app.add_subcommand("explain", "Say which config each kernel gets, and where it comes from");
  options->model.AddTo(verb);
  options->target.AddTo(verb);
  options->configs.AddTo(verb);
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &action] { action = [options] { return Explain(*options); }; });
}

}  // namespace hone::cli
