// `hone show`: a model's graph as text or a picture, after the passes up to one.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "CLI/CLI.hpp"
#include "cli/config_options.h"
#include "cli/exit_code.h"
#include "cli/kernel_notes.h"
#include "cli/model_options.h"
#include "cli/pass_trace.h"
#include "cli/verb.h"
#include "compiler/driver/compile.h"
#include "compiler/ir/printer.h"
#include "compiler/passes/pipeline.h"
#include "compiler/picture/dot.h"
#include "compiler/picture/tree.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "support/file_system.h"
#include "support/output_file.h"
#include "support/status.h"

namespace hone::cli {
namespace {

struct ShowOptions {
  ModelOptions model;
  TargetOptions target;
  ConfigOptions configs;
  std::string after;
  std::string format = "text";
  std::optional<std::string> output;
  bool print_each_pass = false;
  bool time_passes = false;
  bool json = false;
};

const std::map<std::string, picture::ImageFormat>& ImageFormats() {
  static const std::map<std::string, picture::ImageFormat> formats = {
      {"dot", picture::ImageFormat::kDot},
      {"svg", picture::ImageFormat::kSvg},
      {"pdf", picture::ImageFormat::kPdf},
      {"png", picture::ImageFormat::kPng}};
  return formats;
}

absl::StatusOr<std::string> Picture(const ir::Module& typed, const ShowOptions& options,
                                    const Target& target, driver::ConfigChain& configs) {
  HONE_ASSIGN_OR_RETURN(const picture::KernelNotes notes, NotesOf(typed, target, configs));
  const picture::Picture picture = picture::MakePicture(typed, notes);
  if (options.format == "tree") return picture::ToTree(picture);
  return picture::Draw(picture, ImageFormats().at(options.format));
}

absl::Status Write(const std::string& bytes, const std::optional<std::string>& path) {
  if (!path) {
    return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()
               ? absl::OkStatus()
               : absl::InternalError("expected to write to stdout, could not");
  }
  return WriteFileAtomically(*path, bytes);
}

absl::Status CheckAfter(const std::string& after) {
  std::vector<std::string> known = passes::PassNames();
  known.insert(known.begin(), "import");
  if (after.empty() || std::find(known.begin(), known.end(), after) != known.end()) {
    return absl::OkStatus();
  }
  return WithExitCode(absl::InvalidArgumentError(fmt::format("expected --after {}, found '{}'",
                                                             fmt::join(known, ", "), after)),
                      kUsage);
}

// Without passes the text is that of the model as it is, and needs no database.
bool RunsPasses(const ShowOptions& options) {
  return !options.after.empty() || options.format != "text" || options.print_each_pass ||
         options.time_passes;
}

// The passes up to --after, all of them without it, as graphs or as times.
absl::StatusOr<std::string> ShowPasses(const ShowOptions& options, const ir::Module& module,
                                       const Target& target, driver::ConfigChain& configs) {
  PassTrace trace(options.print_each_pass);
  const auto on_pass = [&](const std::string& pass, const ir::Module& made, int64_t ns) {
    trace.Add(pass, made, ns);
  };
  HONE_RETURN_IF_ERROR(
      driver::RunPasses(module, target, options.after, on_pass, &configs).status());
  if (options.print_each_pass) return trace.Graphs();
  return options.json ? trace.Json() : trace.Table();
}

// One specialisation.
absl::StatusOr<std::string> Shown(ir::Module module, const ShowOptions& options,
                                  const Target& target, driver::ConfigChain& configs) {
  if (options.print_each_pass || options.time_passes)
    return ShowPasses(options, module, target, configs);
  const bool is_text = options.format == "text";
  if (RunsPasses(options)) {
    const std::string after = options.after.empty() ? "import" : options.after;
    HONE_ASSIGN_OR_RETURN(module, driver::RunPasses(module, target, after, nullptr, &configs));
  }
  if (is_text) return ir::ToText(module, {.constants = false});
  return Picture(module, options, target, configs);
}

// What cannot be put one behind the other.
bool IsOneDocument(const ShowOptions& options) {
  return options.json || (options.format != "text" && options.format != "tree");
}

absl::Status CheckCombination(const ShowOptions& options) {
  const bool passes = options.print_each_pass || options.time_passes;
  std::string wrong;
  if (passes && options.format != "text") wrong = "--format text with them";
  if (options.print_each_pass && options.time_passes) wrong = "one of them";
  if (!wrong.empty()) wrong = "--print-each-pass and --time-passes: expected " + wrong;
  if (options.json && !options.time_passes) wrong = "expected --json with --time-passes only";
  return wrong.empty() ? absl::OkStatus() : WithExitCode(absl::InvalidArgumentError(wrong), kUsage);
}

absl::Status ShowGraph(const ShowOptions& options) {
  const bool is_text = options.format == "text";
  if (!is_text && options.format != "tree" && !ImageFormats().contains(options.format)) {
    return WithExitCode(
        absl::InvalidArgumentError(fmt::format(
            "expected --format text, tree, dot, svg, pdf or png, found '{}'", options.format)),
        kUsage);
  }
  HONE_RETURN_IF_ERROR(CheckAfter(options.after));
  HONE_RETURN_IF_ERROR(CheckCombination(options));
  HONE_ASSIGN_OR_RETURN(const Target target, options.target.ResolveAny());
  if (options.output) HONE_RETURN_IF_ERROR(ResolveOutput(*options.output).status());
  driver::ConfigChain configs;
  if (RunsPasses(options)) {
    HONE_ASSIGN_OR_RETURN(configs, options.configs.Open());
  }
  if (IsOneDocument(options)) {
    HONE_ASSIGN_OR_RETURN(const ir::Module module, LoadModel(options.model, "a picture or JSON"));
    HONE_ASSIGN_OR_RETURN(const std::string bytes, Shown(module, options, target, configs));
    return Write(bytes, options.output);
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Module> modules, LoadSpecialisations(options.model));
  std::string text;
  for (const ir::Module& module : modules) {
    if (modules.size() > 1) {
      text +=
          fmt::format("{}// specialisation {}\n", text.empty() ? "" : "\n", InputShapes(module));
    }
    HONE_ASSIGN_OR_RETURN(const std::string shown, Shown(module, options, target, configs));
    text += shown;
  }
  return Write(text, options.output);
}

}  // namespace

void AddShow(CLI::App& app, Action& action) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App& verb = *app.add_subcommand("show", "Print a model's graph");
  options->model.AddTo(verb);
  options->target.AddTo(verb);
  verb.add_option("--after", options->after, "Run the passes up to this one first");
  verb.add_flag("--print-each-pass", options->print_each_pass,
                "Print the graph as each pass leaves it, with the time it took");
  verb.add_flag("--time-passes", options->time_passes, "Print only how long each pass took");
  verb.add_flag("--json", options->json, "With --time-passes: one JSON document");
  verb.add_option("--format", options->format, "text, tree, dot, svg, pdf or png")
      ->capture_default_str();
  verb.add_option("-o,--output", options->output, "A file instead of stdout");
  options->configs.AddTo(
      verb,
      "The tuning database: layouts are chosen by its times, kernels of pictures get their "
      "tier and share of time");
  verb.callback([options, &action] { action = [options] { return ShowGraph(*options); }; });
}

}  // namespace hone::cli
