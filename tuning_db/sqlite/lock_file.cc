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
#include <sstream>
#include <string_view>

#include "support/crash_point.h"
#include "support/file_system.h"
#include "support/status.h"

namespace hone::tuning_db::sqlite {
namespace {

// Whoever asks who the holder is holds the lock, shared, for a moment; and a holder that has just
// taken the lock takes a moment to write its name. Both wait this long for the other.
constexpr int kPatienceMs = 200;

// "ADDRESS\nPID\n", and "private CLIENT\n" where the holder serves that process only. Older
// releases read the first two lines. The number tells the bytes of a dead holder from those of a
// live one.
constexpr std::string_view kSchemeOfAddress = "unix:";
constexpr std::string_view kPrivate = "private ";

std::optional<Writer> ReadHolder(int fd) {
  char bytes[4096];
  const ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
  if (size <= 0 || bytes[size - 1] != '\n') return std::nullopt;
  std::istringstream text(std::string(bytes, static_cast<size_t>(size)));
  Writer holder;
  std::string pid;
  if (!std::getline(text, holder.address) || !std::getline(text, pid)) return std::nullopt;
  holder.pid = std::atoll(pid.c_str());
  // "process 7" stands for the address of who has none.
  if (!holder.address.starts_with(kSchemeOfAddress)) holder.address.clear();
  std::string more;
  if (std::getline(text, more) && more.starts_with(kPrivate)) {
    holder.client = std::atoll(more.c_str() + kPrivate.size());
  }
  return holder;
}

bool IsAlive(int64_t pid) {
  return pid > 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH);
}

absl::Status WriteHolder(int fd, const Writer& self, const std::string& path) {
  const pid_t pid = getpid();
  const std::string address = self.address.empty() ? fmt::format("process {}", pid) : self.address;
  const std::string more =
      self.client != 0 ? fmt::format("{}{}\n", kPrivate, self.client) : std::string();
  const std::string text = fmt::format("{}\n{}\n{}", address, pid, more);
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
                                                         const Writer& self) {
  CrashPoint("lock.before_open");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return ErrnoStatus(errno, "open the lock file", path);
  std::unique_ptr<LockFile> lock(new LockFile(fd));
  CrashPoint("lock.before_take");
  if (!TakeExclusively(fd)) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "lock", path);
    const Writer holder = ReadHolder(fd).value_or(Writer());
    lock->fd_ = -1;
    close(fd);
    return absl::UnavailableError(fmt::format(
        "the tuning database is being written by {} (it holds {}); {}", Describe(holder), path,
        IsService(holder) ? "use that server, or stop it" : "wait until it has ended"));
  }
  CrashPoint("lock.taken");
  HONE_RETURN_IF_ERROR(WriteHolder(fd, self, path));
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

absl::StatusOr<std::optional<Writer>> LockFile::HolderOf(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  if (fd < 0) return ErrnoStatus(errno, "open the lock file", path);
  std::optional<Writer> found;
  for (int waited = 0; waited <= kPatienceMs; waited += 10) {
    if (flock(fd, LOCK_SH | LOCK_NB) == 0) {  // free: what the file says is of the dead
      found.reset();
      break;
    }
    const std::optional<Writer> holder = ReadHolder(fd);
    if (holder || !found) found = holder.value_or(Writer());
    // The number of a process in another container means nothing here; then time decides.
    if (holder && IsAlive(holder->pid)) break;
    usleep(10'000);
  }
  close(fd);
  return found;
}

}  // namespace hone::tuning_db::sqlite
