// `hone zoo`: the built-in models.
#include "compiler/frontend/zoo/zoo.h"

#include <optional>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/verb.h"
#include "cli/whole_number.h"
#include "compiler/frontend/onnx/export.h"
#include "fmt/format.h"
#include "support/output_file.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct ZooOptions {
  std::string name;
  std::optional<std::string> output;
  int64_t batch = 1;
};

// Every verb tells models apart by how their files' names end.
absl::Status CheckName(const std::string& output) {
  if (output.ends_with(".onnx")) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "expected a name that ends in .onnx, found {}; models are exported as ONNX", output));
}

absl::Status Zoo(const ZooOptions& options) {
  if (options.name.empty()) {
    for (const std::string& name : frontend::ZooNames()) fmt::print("{}\n", name);
    return absl::OkStatus();
  }
  const std::string output = options.output.value_or(options.name + ".onnx");
  HONE_RETURN_IF_ERROR(ResolveOutput(output).status());
  HONE_RETURN_IF_ERROR(CheckName(output));
  HONE_ASSIGN_OR_RETURN(const ir::Module module, frontend::ZooModel(options.name, options.batch));
  return frontend::ExportOnnx(module, output);
}

}  // namespace

void AddZoo(CLI::App& app, Action& action) {
  auto options = std::make_shared<ZooOptions>();
  CLI::App& verb = *app.add_subcommand("zoo", "List the built-in models, or export one as ONNX");
  verb.add_option("NAME", options->name, "The model");
  verb.add_option("-o,--output", options->output, "The file (default: NAME.onnx)");
  verb.add_option("--batch", options->batch, "Samples that one run takes (default: 1)")
      ->check(WholeNumber<int64_t>(1));
  verb.callback([options, &action] { action = [options] { return Zoo(*options); }; });
}

}  // namespace hone::cli
