#include "tests/compiler/codegen/emulator.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/paths.h"

namespace hone::codegen {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEmulator = "qemu-aarch64-static -L /usr/aarch64-linux-gnu";
constexpr const char* kCompiler = "aarch64-linux-gnu-gcc";

bool Succeeds(const std::string& command) { return std::system(command.c_str()) == 0; }

// Removed when the test program ends.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "hone-emulator-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

const Folder& TestFolder() {
  static const Folder folder;
  return folder;
}

// The runner; nullopt where it cannot be built and run.
const std::optional<std::string>& Runner() {
  static const std::optional<std::string> runner = []() -> std::optional<std::string> {
    const std::string program = TestFolder() / "runner";
    const bool found = Succeeds(fmt::format("command -v {} >/dev/null", kCompiler)) &&
                       Succeeds("command -v qemu-aarch64-static >/dev/null");
    if (!found) return std::nullopt;
    const std::string build =
        fmt::format("{} -O1 -I{} -o {} {}/emulated_runner.c -ldl", kCompiler, HONE_SOURCE_DIR,
                    program, HONE_SOURCE_DIR "/tests/compiler/codegen");
    return Succeeds(build) ? std::optional(program) : std::nullopt;
  }();
  return runner;
}

}  // namespace

bool NeedsEmulator(const CpuTarget& target) {
#ifdef __aarch64__
  (void)target;
  return false;
#else
  return target.IsAArch64();
#endif
}

bool HasEmulator() { return Runner().has_value(); }

std::string RunEmulated(const std::string& elf, const std::vector<BufferBytes>& buffers) {
  const std::string module = TestFolder() / "module.so";
  const std::string contents = TestFolder() / "buffers";
  std::ofstream(module, std::ios::binary) << elf;
  {
    std::ofstream file(contents, std::ios::binary);
    for (const BufferBytes& buffer : buffers) {
      file.write(static_cast<const char*>(buffer.data), static_cast<std::streamsize>(buffer.bytes));
    }
  }
  const std::string command = fmt::format("{} {} {} {}", kEmulator, *Runner(), module, contents);
  const int status = std::system(command.c_str());
  if (status != 0) return fmt::format("{} ended with status {}", command, status);
  std::ifstream file(contents, std::ios::binary);
  for (const BufferBytes& buffer : buffers) {
    file.read(static_cast<char*>(buffer.data), static_cast<std::streamsize>(buffer.bytes));
  }
  return file ? "" : contents + " is too short";
}

}  // namespace hone::codegen
