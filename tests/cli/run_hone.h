// Runs the real `hone` as a user would.
#ifndef HONE_TESTS_CLI_RUN_HONE_H_
#define HONE_TESTS_CLI_RUN_HONE_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace hone::cli {

struct Finished {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// A `hone` under way, in `folder`, with the environment's HOME and XDG_DATA_HOME there. Killed at
// the end, unless it was waited for.
class RunningHone {
 public:
  RunningHone(const std::vector<std::string>& args, const std::filesystem::path& folder);
  ~RunningHone();
  RunningHone(const RunningHone&) = delete;
  RunningHone& operator=(const RunningHone&) = delete;
  // As the terminal does: to it and whatever shares its process group.
  void PressCtrlC();
  // To it alone; nothing happens where it has ended.
  void Send(int signal);
  int pid() const { return pid_; }
  bool HasEnded();
  // What it has said so far on stderr.
  std::string Err() const;
  // Waits for its end.
  Finished Finish();

 private:
  std::string capture_;  // the beginning of the paths of its output
  int pid_ = 0;
  int status_ = 0;
};

Finished RunHone(const std::vector<std::string>& args, const std::filesystem::path& folder);
// With --json: its document; expects that it succeeds.
nlohmann::json RunHoneJson(std::vector<std::string> args, const std::filesystem::path& folder);

// Whether it comes to hold within a minute; for what other processes do.
bool Eventually(const std::function<bool()>& holds);

// A fresh folder, removed at the end.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  // Names and contents of everything in it, to prove that nothing was changed.
  std::string Snapshot() const;

 private:
  std::filesystem::path path_;
};

void WriteFile(const std::string& path, const std::string& bytes);
std::string ReadFile(const std::string& path);

}  // namespace hone::cli

#endif  // HONE_TESTS_CLI_RUN_HONE_H_
