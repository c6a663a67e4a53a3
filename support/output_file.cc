#include "support/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <utility>

#include "support/crash_point.h"
#include "support/file_system.h"
#include "support/status.h"

namespace hone {
namespace {

constexpr int kMaxLinks = 40;  // as many as the kernel follows

std::string FolderOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "no regular file";
}

// Where the links of `path` end, whether or not something is there.
absl::StatusOr<std::string> FollowLinks(const std::string& path) {
  std::string end = path;
  for (int links = 0; links <= kMaxLinks; ++links) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(end, error);
    if (error) return end;  // no link, or nothing
    end = (std::filesystem::path(FolderOf(end)) / target).string();
  }
  return ErrnoStatus(ELOOP, "write", path);
}

constexpr std::string_view kScratchPrefix = ".hone-";
constexpr std::string_view kScratchSuffix = ".new";

// Files that a killed writer left. A writer holds a lock on its own until it has ended; the age is
// for the instant before it does.
void RemoveLeftovers(const std::string& folder) {
  constexpr time_t kAgeSeconds = 60;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kScratchPrefix) || !name.ends_with(kScratchSuffix)) continue;
    const int fd = open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    struct stat info{};
    const bool is_left = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                         info.st_uid == geteuid() && info.st_mtime + kAgeSeconds < time(nullptr) &&
                         flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (is_left) unlink(entry->path().c_str());
    close(fd);
  }
}

}  // namespace

absl::StatusOr<std::string> ResolveOutput(const std::string& path) {
  if (path.empty()) {
    return absl::InvalidArgumentError("expected the name of a file to write, found an empty one");
  }
  struct stat info{};
  // This asks what the links lead to: those of /proc lead to pipes that have no name.
  const bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return ErrnoStatus(errno, "write", path);
  if (path.back() == '/' || (exists && !S_ISREG(info.st_mode))) {
    return absl::InvalidArgumentError(
        fmt::format("expected a file to write at {}, found {}; name a file", path,
                    exists ? KindOf(info.st_mode) : "the name of a folder"));
  }
  HONE_ASSIGN_OR_RETURN(std::string end, FollowLinks(path));
  if (access(FolderOf(end).c_str(), W_OK | X_OK) != 0) return ErrnoStatus(errno, "write", path);
  return end;
}

OutputFile::OutputFile(std::string path, std::string target, std::string scratch, int fd)
    : path_(std::move(path)), target_(std::move(target)), scratch_(std::move(scratch)), fd_(fd) {}

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path, mode_t mode) {
  HONE_ASSIGN_OR_RETURN(const std::string target, ResolveOutput(path));
  RemoveLeftovers(FolderOf(target));
  // Not mkostemp: its files are their owner's only, and the umask cannot be read without a change.
  static std::atomic<uint64_t> count{0};
  while (true) {
    // No longer for a long name, which may be as long as names can be.
    const std::string scratch = fmt::format("{}/{}{}-{}{}", FolderOf(target), kScratchPrefix,
                                            getpid(), count.fetch_add(1), kScratchSuffix);
    const int fd = open(scratch.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) {
      flock(fd, LOCK_EX | LOCK_NB);  // where files cannot be locked, none are removed either
      return OutputFile(path, target, scratch, fd);
    }
    if (errno != EEXIST) return ErrnoStatus(errno, "write", path);
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      scratch_(std::exchange(other.scratch_, "")),
      fd_(std::exchange(other.fd_, -1)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!scratch_.empty()) unlink(scratch_.c_str());
}

absl::Status OutputFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "write", path_);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  CrashPoint("file.write.before_sync");
  if (fsync(fd_) != 0) return ErrnoStatus(errno, "sync", path_);
  CrashPoint("file.write.after_sync");
  // What has come to be there meanwhile is not replaced either.
  HONE_RETURN_IF_ERROR(ResolveOutput(target_).status());
  HONE_RETURN_IF_ERROR(RenameDurably(scratch_, target_));
  scratch_.clear();
  return absl::OkStatus();
}

absl::Status WriteOwnFile(const std::string& path, std::string_view bytes) {
  constexpr mode_t kOwnFile = 0600;
  HONE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, kOwnFile));
  HONE_RETURN_IF_ERROR(file.Write(bytes));
  return file.Commit();
}

}  // namespace hone
