#include "compiler/codegen/link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include "support/file_system.h"
#include "support/scratch_folder.h"
#include "support/status.h"

LLD_HAS_DRIVER(elf)

namespace hone::codegen {
namespace {

// Puts the dispositions back that LLVM replaces for as long as a link runs, and after.
class SignalKeeper {
 public:
  SignalKeeper() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &saved_[i]);
  }
  ~SignalKeeper() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &saved_[i], nullptr);
  }
  SignalKeeper(const SignalKeeper&) = delete;
  SignalKeeper& operator=(const SignalKeeper&) = delete;

 private:
  static constexpr std::array kSignals = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,
                                          SIGBUS,  SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,
                                          SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS};
  std::array<struct sigaction, kSignals.size()> saved_;
};

// A link reads and writes a few small files: in memory they take half of its time less. Containers
// often have little of that, and large modules want more than it may have.
std::string FolderForFiles() {
  const char* wanted = std::getenv("TMPDIR");
  if (wanted && *wanted) return wanted;
  constexpr const char* kMemory = "/dev/shm";
  constexpr uint64_t kRoomBytes = uint64_t{256} << 20;
  struct statvfs room = {};
  const bool has_room = statvfs(kMemory, &room) == 0 && room.f_bavail * room.f_frsize >= kRoomBytes;
  return has_room && access(kMemory, W_OK | X_OK) == 0 ? kMemory : "/tmp";
}

std::atomic<bool> lld_is_sound = true;

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool good = fd >= 0;
  while (good && !bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    if (good) bytes.remove_prefix(static_cast<size_t>(n));
  }
  const int error = errno;
  if (fd >= 0) close(fd);
  if (good) return absl::OkStatus();
  return absl::InternalError(fmt::format("cannot write {}: {}", path, strerror(error)));
}

}  // namespace

bool CanLink() { return lld_is_sound; }

absl::StatusOr<std::string> LinkSharedObject(const std::vector<std::string>& objects) {
  HONE_ASSIGN_OR_RETURN(const ScratchFolder folder,
                        ScratchFolder::Make(FolderForFiles(), "hone-link-"));
  const std::string output = folder.path() + "/out.so";
  std::vector<const char*> arguments = {"ld.lld",
                                        "-shared",
                                        "--hash-style=gnu",
                                        "-z",
                                        "noseparate-code",
                                        "-z",
                                        "now",
                                        "-z",
                                        "norelro",
                                        "--build-id=none",
                                        "-O0",
                                        "--no-undefined",
                                        "--threads=1",
                                        "--no-mmap-output-file",
                                        "-o",
                                        output.c_str()};
  std::vector<std::string> inputs;
  for (const std::string& object : objects) {
    inputs.push_back(fmt::format("{}/{}.o", folder.path(), inputs.size()));
    HONE_RETURN_IF_ERROR(WriteFile(inputs.back(), object));
  }
  for (const std::string& input : inputs) arguments.push_back(input.c_str());
  std::string words;
  llvm::raw_string_ostream stream(words);
  const SignalKeeper keeper;
  const lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  lld_is_sound = result.canRunAgain;
  if (result.retCode != 0) {
    return absl::InternalError(fmt::format("lld cannot link the kernel: {}", stream.str()));
  }
  return ReadFile(output);
}

}  // namespace hone::codegen
