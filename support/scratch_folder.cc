#include "support/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "support/file_system.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDigits = "XXXXXX";

// The descriptor that holds the lock; -1 where somebody else has it and `how` does not wait.
int Lock(const std::string& path, int how) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && TEMP_FAILURE_RETRY(flock(fd, how)) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

// The age spares a folder in the instant between its making and its locking.
bool IsOldAndOurs(int fd) {
  constexpr time_t kAgeSeconds = 60;
  struct stat info{};
  return fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
         info.st_mtime + kAgeSeconds < time(nullptr);
}

void RemoveLeftovers(const std::string& parent, const std::string& prefix) {
  std::error_code error;
  for (auto entry = fs::directory_iterator(parent, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || name.size() != prefix.size() + kDigits.size()) continue;
    const int fd = Lock(entry->path(), LOCK_EX | LOCK_NB);
    if (fd < 0) continue;
    std::error_code ignored;  // the next one tries again
    if (IsOldAndOurs(fd)) fs::remove_all(entry->path(), ignored);
    close(fd);
  }
}

// This is done once for each process, place and prefix: what others leave comes to light slowly.
void RemoveLeftoversOnce(const std::string& parent, const std::string& prefix) {
  static std::mutex mutex;
  static auto* const done = new std::set<std::pair<std::string, std::string>>;
  const std::lock_guard lock(mutex);
  if (done->insert({parent, prefix}).second) RemoveLeftovers(parent, prefix);
}

}  // namespace

absl::StatusOr<ScratchFolder> ScratchFolder::Make(const std::string& parent,
                                                  const std::string& prefix) {
  RemoveLeftoversOnce(parent, prefix);
  std::string path = parent + "/" + prefix + std::string(kDigits);
  if (mkdtemp(path.data()) == nullptr) return ErrnoStatus(errno, "make the folder", path);
  // Somebody who looks for leftovers may hold it for a moment, to find that it is none.
  return ScratchFolder(path, Lock(path, LOCK_EX));
}

absl::StatusOr<ScratchFolder> ScratchFolder::MakeForNow(const std::string& prefix) {
  const char* const base = std::getenv("XDG_RUNTIME_DIR");
  return Make(base != nullptr && *base != 0 ? base : "/tmp", prefix);
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), fd_(std::exchange(other.fd_, -1)) {}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  path_ = std::exchange(other.path_, "");
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

void ScratchFolder::Remove() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (fd_ >= 0) close(fd_);
}

}  // namespace hone
