// `hone`: the command line. docs/architecture.md, 8 is its contract.
#include <signal.h>

#include <cstdio>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"
#include "support/parse_error.h"
#include "support/version.h"

namespace {

// The first word that should be a verb and is none ("log stats"); CLI11 would only say that one is
// missing.
std::string UnknownVerb(const CLI::App& app, int argc, char** argv) {
  const CLI::App* level = &app;
  std::string words;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    if (level->get_subcommands([](const CLI::App*) { return true; }).empty()) return "";
    words += (words.empty() ? "" : " ") + std::string(argv[i]);
    const auto chosen =
        level->get_subcommands([&](const CLI::App* verb) { return verb->get_name() == argv[i]; });
    if (chosen.empty()) return words;
    level = chosen.front();
  }
  return "";
}

// What a script leaves of a flag whose variable is not set, such as "--db=": CLI11 would take the
// argument behind it as the value.
std::optional<std::string> EmptyValue(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) return argument;
  }
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("hone"));
  signal(SIGCHLD, SIG_DFL);  // inherited as ignored, it would hide how children end
  CLI::App app("Hone: auto-tuned deep-learning kernels", "hone");
  app.set_version_flag("--version", std::string("hone ") + hone::Version());
  app.require_subcommand(1);
  hone::cli::Action action;
  hone::cli::AddZoo(app, action);
  hone::cli::AddShow(app, action);
  hone::cli::AddCompile(app, action);
  hone::cli::AddRun(app, action);
  hone::cli::AddBench(app, action);
  hone::cli::AddTune(app, action);
  hone::cli::AddJob(app, action);
  hone::cli::AddWorker(app, action);
  hone::cli::AddExplain(app, action);
  hone::cli::AddLog(app, action);
  hone::cli::AddAuth(app, action);
  hone::cli::AddDb(app, action);
  hone::cli::AddDoctor(app, action);
  if (const std::string unknown = UnknownVerb(app, argc, argv); !unknown.empty()) {
    fmt::print(stderr, "hone: there is no verb '{}'; see hone --help\n", unknown);
    return hone::cli::kUsage;
  }
  if (const std::optional<std::string> before = EmptyValue(argc, argv)) {
    fmt::print(stderr, "hone: expected a value after {}, found an empty one; see hone --help\n",
               *before);
    return hone::cli::kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "hone: {}; see hone --help\n", hone::SentenceOf(error));
    return hone::cli::kUsage;
  }
  const absl::Status status = action();
  if (!status.ok()) {
    fmt::print(stderr, "hone: {}\n", std::string(status.message()));
  }
  return hone::cli::ExitCodeOf(status);
}
