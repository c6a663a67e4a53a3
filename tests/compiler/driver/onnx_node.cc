#include "tests/compiler/driver/onnx_node.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "fmt/format.h"
#include "support/status.h"
#include "tests/compiler/driver/compiled.h"
#include "tests/compiler/frontend/seeded_weights.h"

namespace hone::driver {

using frontend::CaseOutcome;

constexpr size_t kProcesses = 2;

void OnnxNode::SetUp() {
  const std::optional<std::string> shared = frontend::SharedData();
  if (!shared) GTEST_SKIP() << "no shared test data here; set HONE_SHARED_DATA to its folder";
  folder_ = *shared + "/onnx_node/";
  std::ifstream file(folder_ + "manifest.json");
  for (const auto& entry : nlohmann::json::parse(file)) {
    names_.push_back(entry["name"]);
    frontend::NodeCase& c = cases_.emplace_back();
    c.folder = folder_ + names_.back();
    for (const auto& input : entry["inputs"]) c.inputs.push_back(input["name"]);
  }
  results_ = (std::filesystem::temp_directory_path() / "hone-node-XXXXXX").string();
  ASSERT_NE(mkdtemp(results_.data()), nullptr);
}

void OnnxNode::TearDown() { std::filesystem::remove_all(results_); }

std::string OnnxNode::ResultFile(size_t process) const {
  return fmt::format("{}/{}", results_, process);
}

void OnnxNode::RunCases(size_t first) {
  std::ofstream results(ResultFile(first % kProcesses), std::ios::app);
  for (size_t i = first; i < cases_.size(); i += kProcesses) {
    results << i << " begins" << std::endl;
    std::string why;
    const auto compile_and_run = [&](const ir::Module& module,
                                     const std::vector<frontend::TensorData>& inputs)
        -> absl::StatusOr<std::vector<frontend::TensorData>> {
      HONE_ASSIGN_OR_RETURN(Compiled compiled,
                            Compiled::Make(module, {.target = target_, .require_tuned = false}));
      return compiled.Run(inputs, 1);
    };
    const CaseOutcome outcome = frontend::RunCase(cases_[i], &why, nullptr, compile_and_run);
    std::replace(why.begin(), why.end(), '\n', ' ');
    results << i << " " << static_cast<int>(outcome) << " " << why << std::endl;
  }
}

pid_t OnnxNode::Start(size_t first) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    RunCases(first);
  } catch (const std::exception&) {  // as .value() of a status throws
    _exit(1);
  }
  _exit(0);
}

std::map<size_t, OnnxNode::Verdict> OnnxNode::ReadResults(size_t process, size_t* unfinished) {
  std::map<size_t, Verdict> verdicts;
  std::ifstream results(ResultFile(process));
  std::string line;
  while (std::getline(results, line)) {
    std::istringstream words(line);
    size_t index = 0;
    std::string outcome;
    words >> index >> outcome;
    Verdict& verdict = verdicts[index];
    *unfinished = index;
    if (outcome == "begins") continue;
    verdict.outcome = static_cast<CaseOutcome>(std::stoi(outcome));
    std::getline(words, verdict.why);
  }
  return verdicts;
}

std::map<size_t, OnnxNode::Verdict> OnnxNode::RunAll() {
  std::map<pid_t, size_t> running;
  for (size_t i = 0; i < kProcesses; ++i) running[Start(i)] = i;
  std::map<size_t, Verdict> all;
  while (!running.empty()) {
    int status = 0;
    const pid_t ended = wait(&status);
    const size_t process = running.at(ended);
    running.erase(ended);
    size_t last = process;
    all.merge(ReadResults(process, &last));
    const bool crashed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (crashed && last + kProcesses < cases_.size()) {
      running[Start(last + kProcesses)] = process;
    }
  }
  return all;
}

void OnnxNode::ExpectNoneWrong(const Target& target, int fewest_right) {
  target_ = target;
  std::map<CaseOutcome, int> counts;
  const std::map<size_t, Verdict> verdicts = RunAll();
  EXPECT_EQ(verdicts.size(), cases_.size());
  for (const auto& [index, verdict] : verdicts) {
    ++counts[verdict.outcome];
    EXPECT_NE(verdict.outcome, CaseOutcome::kWrong) << names_[index] << ": " << verdict.why;
    if (verdict.outcome == CaseOutcome::kRefused && std::getenv("HONE_VERBOSE") != nullptr) {
      std::cout << "refused " << names_[index] << ": " << verdict.why.substr(0, 300) << "\n";
    }
  }
  std::cout << "onnx_node on compiled code for " << target.ToString() << ": "
            << counts[CaseOutcome::kRight] << " right, " << counts[CaseOutcome::kRefused]
            << " refused, " << counts[CaseOutcome::kWrong] << " wrong\n";
  EXPECT_GE(counts[CaseOutcome::kRight], fewest_right);
}

}  // namespace hone::driver
