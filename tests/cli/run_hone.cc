#include "tests/cli/run_hone.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>

namespace hone::cli {

Finished RunHone(const std::vector<std::string>& args, const std::filesystem::path& folder) {
  const std::filesystem::path capture =
      std::filesystem::temp_directory_path() / ("hone-test-" + std::to_string(getpid()));
  const std::string out = capture.string() + ".out";
  const std::string err = capture.string() + ".err";
  const pid_t pid = fork();
  if (pid == 0) {
    const int out_fd = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err_fd = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
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
  int status = 0;
  waitpid(pid, &status, 0);
  Finished finished{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                    .out = ReadFile(out),
                    .err = ReadFile(err)};
  std::filesystem::remove(out);
  std::filesystem::remove(err);
  return finished;
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
