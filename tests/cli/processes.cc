#include "tests/cli/processes.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/run_hone.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

std::string FileOf(pid_t process, const std::string& name) {
  return ReadFile("/proc/" + std::to_string(process) + "/" + name);
}

// A zombie has ended.
bool IsLive(pid_t process) {
  const std::string stat = FileOf(process, "stat");
  const size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X';
}

}  // namespace

pid_t ChildNamed(pid_t parent, const std::string& name) {
  std::error_code gone;
  for (const auto& task :
       fs::directory_iterator("/proc/" + std::to_string(parent) + "/task", gone)) {
    std::istringstream children(ReadFile((task.path() / "children").string()));
    for (pid_t child = 0; children >> child;) {
      if (FileOf(child, "comm") == name + "\n" && IsLive(child)) return child;
    }
  }
  return 0;
}

std::vector<pid_t> ProcessesNaming(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    const pid_t process = std::stoi(name);
    if (process == getpid() || FileOf(process, "cmdline").find(text) == std::string::npos) continue;
    if (IsLive(process)) found.push_back(process);
  }
  return found;
}

}  // namespace hone::cli
