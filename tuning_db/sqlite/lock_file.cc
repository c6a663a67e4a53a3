#include "tuning_db/sqlite/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "support/crash_point.h"
#include "support/file_system.h"
#include "support/status.h"

namespace hone::tuning_db::sqlite {
namespace {

// Whoever asks who the holder is holds the lock, shared, for a moment; and a holder that has just
// taken the lock takes a moment to write its name. Both wait this long for the other.
constexpr int kPatienceMs = 200;

// "ADDRESS\nPID\n": the number tells the bytes of a dead holder from those of a live one.
struct Holder {
  std::string address;
  pid_t pid = 0;
};

std::optional<Holder> ReadHolder(int fd) {
  char bytes[4096];
  const ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
  if (size <= 0) return std::nullopt;
  const std::string text(bytes, static_cast<size_t>(size));
  const size_t end = text.find('\n');
  if (end == std::string::npos || text.back() != '\n') return std::nullopt;
  return Holder{text.substr(0, end), std::atoi(text.c_str() + end + 1)};
}

bool IsAlive(pid_t pid) { return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH); }

absl::Status WriteHolder(int fd, const std::string& owner, const std::string& path) {
  const pid_t pid = getpid();
  const std::string address = owner.empty() ? fmt::format("process {}", pid) : owner;
  const std::string text = fmt::format("{}\n{}\n", address, pid);
  if (ftruncate(fd, 0) != 0) return ErrnoStatus(errno, "write", path);
  CrashPoint("lock.truncated");
  if (pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return ErrnoStatus(errno, "write", path);
  }
  return absl::OkStatus();
}

// Waits for probes (HolderOf) to let go, not for a writer that stays.
bool TakeExclusively(int fd) {
  for (int waited = 0; waited <= kPatienceMs; waited += 10) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    usleep(10'000);
  }
  errno = EWOULDBLOCK;
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LockFile>> LockFile::Take(const std::string& path,
                                                         const std::string& owner) {
  CrashPoint("lock.before_open");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return ErrnoStatus(errno, "open the lock file", path);
  std::unique_ptr<LockFile> lock(new LockFile(fd));
  CrashPoint("lock.before_take");
  if (!TakeExclusively(fd)) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "lock", path);
    const std::optional<Holder> holder = ReadHolder(fd);
    lock->fd_ = -1;
    close(fd);
    return absl::UnavailableError(
        fmt::format("the tuning database is being written by {} (it holds {}); use that server, or "
                    "stop it",
                    holder ? holder->address : "another process", path));
  }
  CrashPoint("lock.taken");
  HONE_RETURN_IF_ERROR(WriteHolder(fd, owner, path));
  CrashPoint("lock.named");
  return lock;
}

LockFile::~LockFile() {
  if (fd_ < 0) return;
  CrashPoint("lock.before_release");
  [[maybe_unused]] const int ignored = ftruncate(fd_, 0);
  close(fd_);
  CrashPoint("lock.released");
}

absl::StatusOr<std::string> LockFile::HolderOf(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::string();
  if (fd < 0) return ErrnoStatus(errno, "open the lock file", path);
  std::string found;
  for (int waited = 0; waited <= kPatienceMs; waited += 10) {
    if (flock(fd, LOCK_SH | LOCK_NB) == 0) {  // free: what the file says is of the dead
      found.clear();
      break;
    }
    const std::optional<Holder> holder = ReadHolder(fd);
    if (holder) found = holder->address;
    // The number of a process in another container means nothing here; then time decides.
    if (holder && IsAlive(holder->pid)) break;
    if (found.empty()) found = "another process";
    usleep(10'000);
  }
  close(fd);
  return found;
}

}  // namespace hone::tuning_db::sqlite
