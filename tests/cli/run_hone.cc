#include "tests/cli/run_hone.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "gtest/gtest.h"
#include "tests/paths.h"

namespace hone::cli {

RunningHone::RunningHone(const std::vector<std::string>& args,
                         const std::filesystem::path& folder) {
  static int runs = 0;
  capture_ = std::filesystem::temp_directory_path() /
             ("hone-test-" + std::to_string(getpid()) + "-" + std::to_string(++runs));
  pid_ = fork();
  if (pid_ != 0) {
    setpgid(pid_, pid_);
    return;
  }
  setpgid(0, 0);
  const int out_fd = open((capture_ + ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_fd = open((capture_ + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(out_fd, STDOUT_FILENO);
  dup2(err_fd, STDERR_FILENO);
  if (chdir(folder.c_str()) != 0) _exit(99);
  setenv("HOME", folder.c_str(), 1);
  setenv("XDG_DATA_HOME", (folder / "data").c_str(), 1);
  std::vector<char*> argv;
  std::string program = HONE_BIN_DIR "/hone";
  argv.push_back(program.data());
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(98);
}

RunningHone::~RunningHone() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  Finish();
}

void RunningHone::PressCtrlC() { kill(-pid_, SIGINT); }

void RunningHone::Send(int signal) {
  if (!HasEnded()) kill(pid_, signal);
}

bool RunningHone::HasEnded() {
  if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = 0;
  return pid_ == 0;
}

std::string RunningHone::Err() const { return ReadFile(capture_ + ".err"); }

Finished RunningHone::Finish() {
  if (pid_ > 0) waitpid(pid_, &status_, 0);
  pid_ = 0;
  Finished finished{
      .exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_),
      .out = ReadFile(capture_ + ".out"),
      .err = Err()};
  std::filesystem::remove(capture_ + ".out");
  std::filesystem::remove(capture_ + ".err");
  return finished;
}

Finished RunHone(const std::vector<std::string>& args, const std::filesystem::path& folder) {
  return RunningHone(args, folder).Finish();
}

nlohmann::json RunHoneJson(std::vector<std::string> args, const std::filesystem::path& folder) {
  args.push_back("--json");
  const Finished finished = RunHone(args, folder);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto document = nlohmann::json::parse(finished.out, nullptr, /*allow_exceptions=*/false);
  EXPECT_EQ(document.value("schema", 0), 1) << finished.out;
  return document;
}

bool Eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

TestFolder::TestFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "hone-cli-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TestFolder::~TestFolder() { std::filesystem::remove_all(path_); }

std::string TestFolder::Snapshot() const {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
    files[entry.path().string()] = entry.is_regular_file() ? ReadFile(entry.path().string()) : "";
  }
  std::string all;
  for (const auto& [name, bytes] : files) all += name + "\n" + bytes + "\n";
  return all;
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

}  // namespace hone::cli
