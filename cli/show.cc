// `hone show`: a model's graph as text, after the passes up to one.
#include <fstream>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/model_options.h"
#include "cli/verb.h"
#include "compiler/driver/compile.h"
#include "compiler/ir/printer.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct Options {
  ModelOptions model;
  TargetOptions target;
  std::string after;
  std::string format = "text";
  std::string output;
};

absl::Status Show(const Options& options) {
  if (options.format != "text") {
    return WithExitCode(
        absl::InvalidArgumentError(fmt::format(
            "expected --format text, found '{}'; pictures are to come", options.format)),
        kUsage);
  }
  HONE_ASSIGN_OR_RETURN(ir::Module module, LoadModel(options.model));
  if (!options.after.empty()) {
    HONE_ASSIGN_OR_RETURN(const Target target, options.target.Resolve());
    HONE_ASSIGN_OR_RETURN(module, driver::RunPasses(module, target, options.after));
  }
  const std::string text = ir::ToText(module, {.constants = false});
  if (options.output.empty()) {
    fmt::print("{}", text);
    return absl::OkStatus();
  }
  std::ofstream file(options.output, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    return absl::InternalError(fmt::format("expected to write {}, could not", options.output));
  return absl::OkStatus();
}

}  // namespace

void AddShow(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App& verb = *app.add_subcommand("show", "Print a model's graph");
  options->model.AddTo(verb);
  options->target.AddTo(verb);
  verb.add_option("--after", options->after, "Run the passes up to this one first");
  verb.add_option("--format", options->format, "text")->capture_default_str();
  verb.add_option("-o,--output", options->output, "A file instead of stdout");
  verb.callback([options, &action] { action = [options] { return Show(*options); }; });
}

}  // namespace hone::cli
