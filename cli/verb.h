// The verbs of `hone`: each of these functions adds one to the command line.
#ifndef HONE_CLI_VERB_H_
#define HONE_CLI_VERB_H_

#include <functional>

#include "absl/status/status.h"

namespace CLI {
class App;
}

namespace hone::cli {

// What the chosen verb does: it is set while the command line is parsed, and run after that.
using Action = std::function<absl::Status()>;

void AddZoo(CLI::App& app, Action& action);
void AddShow(CLI::App& app, Action& action);
void AddCompile(CLI::App& app, Action& action);
void AddRun(CLI::App& app, Action& action);
void AddBench(CLI::App& app, Action& action);
void AddTune(CLI::App& app, Action& action);
void AddJob(CLI::App& app, Action& action);
void AddWorker(CLI::App& app, Action& action);
void AddExplain(CLI::App& app, Action& action);
void AddLog(CLI::App& app, Action& action);
void AddAuth(CLI::App& app, Action& action);
void AddDb(CLI::App& app, Action& action);
void AddDoctor(CLI::App& app, Action& action);

}  // namespace hone::cli

#endif  // HONE_CLI_VERB_H_
