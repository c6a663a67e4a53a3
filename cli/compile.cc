// `hone compile`: a model to a shared object, and where each kernel's config came from.
#include "compiler/driver/compile.h"

#include "CLI/CLI.hpp"
#include "cli/compile_report.h"
#include "cli/config_options.h"
#include "cli/exit_code.h"
#include "cli/misses.h"
#include "cli/model_options.h"
#include "cli/printable.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "support/output_file.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct CompileVerbOptions {
  ModelOptions model;
  TargetOptions target;
  std::string output;
  ConfigOptions configs;
  bool require_tuned = false;
  bool json = false;
};

// That they are not recorded is no reason to be without the module. Who may only read a server's
// configs cannot add to what it keeps, and knows it; a server of an older release keeps none.
void NoteMisses(const driver::CompileReport& report, const CompileVerbOptions& options) {
  const absl::Status recorded =
      RecordMisses(report, ToUtf8(ModelName(options.model.path)), options.configs);
  if (recorded.ok() || absl::IsPermissionDenied(recorded) || absl::IsUnimplemented(recorded)) {
    return;
  }
  fmt::print(stderr,
             "note: kernels without a tuned config are not recorded for tune --misses: {}\n",
             std::string(recorded.message()));
}

absl::Status CompileModel(const CompileVerbOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Target target, options.target.ResolveAny());
  HONE_RETURN_IF_ERROR(ResolveOutput(options.output).status());  // before minutes of work
  HONE_ASSIGN_OR_RETURN(std::vector<ir::Module> modules, LoadSpecialisations(options.model));
  HONE_ASSIGN_OR_RETURN(driver::ConfigChain configs, options.configs.Open());
  const driver::CompileOptions compile{.target = target, .require_tuned = options.require_tuned};
  const absl::StatusOr<driver::CompileReport> report =
      driver::Compile(std::move(modules), compile, configs, options.output);
  if (driver::IsNotTuned(report.status())) return WithExitCode(report.status(), kNotTuned);
  HONE_RETURN_IF_ERROR(report.status());
  NoteMisses(*report, options);
  PrintReport(*report, options.json);
  return absl::OkStatus();
}

}  // namespace

void AddCompile(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompileVerbOptions>();
  CLI::App& verb = *app.add_subcommand("compile", "Compile a model with the best configs known");
  options->model.AddTo(verb);
  verb.add_option("-o,--output", options->output, "The module to write")->required();
  options->target.AddTo(verb);
  options->configs.AddTo(verb);
  verb.add_flag("--require-tuned", options->require_tuned,
                "Refuse when a kernel is not tuned (exit 4)");
  verb.add_flag("--json", options->json, "Prints one JSON document");
  verb.callback([options, &action] { action = [options] { return CompileModel(*options); }; });
}

}  // namespace hone::cli
