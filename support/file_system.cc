#include "support/file_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "support/crash_point.h"
#include "support/output_file.h"
#include "support/status.h"

namespace hone {
namespace {

// Closes its descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::Status SyncDirectoryOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  const Descriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return ErrnoStatus(errno, "open", folder);
  if (fsync(directory.get()) != 0) return ErrnoStatus(errno, "sync", folder);
  return absl::OkStatus();
}

}  // namespace

absl::Status ErrnoStatus(int error, std::string_view doing, const std::string& path) {
  const std::string message = fmt::format("cannot {} {}: {}", doing, path, std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ELOOP:
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(message);
    default:
      return absl::InternalError(message);
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return ErrnoStatus(errno, "open", path);
  std::string bytes;
  char chunk[1 << 16];
  for (;;) {
    const ssize_t size = read(file.get(), chunk, sizeof(chunk));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return ErrnoStatus(errno, "read", path);
    if (size == 0) return bytes;
    bytes.append(chunk, static_cast<size_t>(size));
  }
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  HONE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, 0666));
  HONE_RETURN_IF_ERROR(file.Write(bytes));
  return file.Commit();
}

absl::Status RenameDurably(const std::string& from, const std::string& to) {
  CrashPoint("file.rename.before");
  if (rename(from.c_str(), to.c_str()) != 0) return ErrnoStatus(errno, "rename to", to);
  CrashPoint("file.rename.after");
  HONE_RETURN_IF_ERROR(SyncDirectoryOf(to));
  CrashPoint("file.rename.durable");
  return absl::OkStatus();
}

}  // namespace hone
