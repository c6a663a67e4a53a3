#include "tuning_db/sqlite/database_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "support/crash_point.h"
#include "support/file_system.h"
#include "support/status.h"
#include "tuning_db/sqlite/checksum_vfs.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/lock_file.h"
#include "tuning_db/sqlite/schema.h"

namespace hone::tuning_db::sqlite {
namespace {

// https://www.sqlite.org/fileformat2.html#the_database_header
constexpr char kMagic[] = "SQLite format 3";
constexpr size_t kHeaderSize = 100;
constexpr size_t kPageSizeAt = 16;
constexpr size_t kPageCountAt = 28;
constexpr size_t kUserVersionAt = 60;
constexpr size_t kApplicationIdAt = 68;

struct Header {
  std::array<unsigned char, kHeaderSize> bytes = {};
  ssize_t size = 0;       // read of it
  int64_t file_size = 0;  // of the whole file

  uint32_t Word(size_t at) const {
    return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 |
           uint32_t{bytes[at + 2]} << 8 | uint32_t{bytes[at + 3]};
  }
  int64_t PageSize() const {
    const int64_t size = bytes[kPageSizeAt] << 8 | bytes[kPageSizeAt + 1];
    return size == 1 ? 65536 : size;
  }
  bool IsSqlite() const {
    return size == kHeaderSize && std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) == 0;
  }
  bool IsTruncated() const { return file_size < PageSize() * int64_t{Word(kPageCountAt)}; }
};

absl::StatusOr<Header> ReadHeader(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ErrnoStatus(errno, "open the tuning database", path);
  Header header;
  struct stat info = {};
  const bool is_readable = fstat(fd, &info) == 0;
  if (is_readable && S_ISREG(info.st_mode)) {
    header.size = pread(fd, header.bytes.data(), header.bytes.size(), 0);
  }
  const int error = errno;
  close(fd);
  if (!is_readable || header.size < 0) return ErrnoStatus(error, "read", path);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        fmt::format("{} is {}, not a tuning database; name a file", path,
                    S_ISDIR(info.st_mode) ? "a directory" : "no regular file"));
  }
  header.file_size = info.st_size;
  return header;
}

bool HasWal(const std::string& path) {
  struct stat info = {};
  return stat((path + "-wal").c_str(), &info) == 0 && info.st_size > 0;
}

// A checkpoint writes the new page count before the last pages, so that a file with a -wal may be
// short for a moment (or after a crash, which SQLite mends).
absl::StatusOr<bool> IsTruncated(const std::string& path) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    HONE_ASSIGN_OR_RETURN(const Header header, ReadHeader(path));
    if (!header.IsTruncated() || HasWal(path)) return false;
  }
  return true;
}

absl::Status BuildDatabase(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> db,
                        Connection::Open(path, Access::kCreate));
  HONE_RETURN_IF_ERROR(db->Execute(fmt::format("PRAGMA application_id = {}", kApplicationId)));
  HONE_RETURN_IF_ERROR(Migrate(*db));
  return db->Execute("PRAGMA journal_mode = WAL");
}

// What a crash while creating left; nobody else uses the name, as we hold FILE.lock.
void RemoveScratch(const std::string& scratch) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) unlink((scratch + suffix).c_str());
}

}  // namespace

absl::Status NewerVersion(const std::string& path, int version) {
  return absl::FailedPreconditionError(
      fmt::format("{} has schema version {}, made by a newer Hone; this one knows up to {}: update "
                  "Hone",
                  path, version, NewestVersion()));
}

absl::Status InspectDatabaseFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Header header, ReadHeader(path));
  if (header.size == 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} is empty, not a tuning database; remove it to have one made", path));
  }
  if (!header.IsSqlite()) {
    return absl::InvalidArgumentError(
        fmt::format("{} is not a SQLite database; name a tuning database of Hone", path));
  }
  if (header.Word(kApplicationIdAt) != kApplicationId) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is a SQLite database of another program; name a tuning database of Hone", path));
  }
  const auto version = static_cast<int>(header.Word(kUserVersionAt));
  if (version > NewestVersion()) return NewerVersion(path, version);
  if (version >= kChecksumVersion && header.bytes[kReservedAt] != kChecksumBytes) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is damaged: its pages have no room for their checksums; restore a backup", path));
  }
  HONE_ASSIGN_OR_RETURN(const bool is_truncated, IsTruncated(path));
  if (!is_truncated) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} is truncated: {} bytes of {}; restore a backup", path, header.file_size,
                  header.PageSize() * int64_t{header.Word(kPageCountAt)}));
}

absl::Status CreateDatabaseFile(const std::string& path) {
  const std::string scratch = path + ".new";
  RemoveScratch(scratch);
  CrashPoint("create.before_build");
  const absl::Status status = BuildDatabase(scratch);
  CrashPoint("create.built");
  if (!status.ok()) {
    RemoveScratch(scratch);
    return status;
  }
  return RenameDurably(scratch, path);
}

bool IsQuiet(const std::string& path) {
  if (HasWal(path)) return false;
  const absl::StatusOr<std::optional<Writer>> holder = LockFile::HolderOf(path + ".lock");
  return holder.ok() && !holder->has_value();
}

std::string StateOf(const std::string& path) {
  struct stat info = {};
  stat(path.c_str(), &info);
  return fmt::format("{} {} {} {} {}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, HasWal(path));
}

absl::StatusOr<std::string> CanonicalPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  const std::filesystem::path whole = std::filesystem::canonical(absolute, error);
  if (!error) return whole.string();
  const std::filesystem::path folder = std::filesystem::canonical(absolute.parent_path(), error);
  if (error) return ErrnoStatus(error.value(), "open the tuning database", path);
  return (folder / absolute.filename()).string();
}

std::string NetworkFileSystemName(long type) {
  static constexpr std::array<std::pair<uint32_t, const char*>, 11> kNames = {{
      {0x6969, "NFS"},
      {0x517B, "SMB"},
      {0xFF534D42, "CIFS"},
      {0xFE534D42, "SMB2"},
      {0x65735546, "FUSE"},
      {0x01021997, "9p"},
      {0x00C36400, "Ceph"},
      {0x5346414F, "AFS"},
      {0x0BD00BD0, "Lustre"},
      {0x47504653, "GPFS"},
      {0x7461636F, "OCFS2"},
  }};
  for (const auto& [magic, name] : kNames) {
    if (static_cast<uint32_t>(type) == magic) return name;
  }
  return "";
}

absl::Status RefuseNetworkFileSystem(const std::string& path) {
  struct statfs info = {};
  if (statfs(path.c_str(), &info) != 0) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    if (statfs(folder.c_str(), &info) != 0) return ErrnoStatus(errno, "look at", path);
  }
  const std::string name = NetworkFileSystemName(info.f_type);
  if (name.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} lies on a network file system ({}), where a database cannot be kept whole; "
                  "keep it on a local disk, or tune through a server",
                  path, name));
}

}  // namespace hone::tuning_db::sqlite
