#include "tuning_db/sqlite/database_use.h"

#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <mutex>

#include "support/file_system.h"
#include "support/status.h"
#include "tuning_db/sqlite/database_file.h"

namespace hone::tuning_db::sqlite {
namespace {

// Live for the process.
std::mutex& Mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}
std::map<std::pair<dev_t, ino_t>, int>& Uses() {
  static auto* const uses = new std::map<std::pair<dev_t, ino_t>, int>;
  return *uses;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DatabaseUse>> DatabaseUse::Begin(const std::string& path) {
  const std::lock_guard lock(Mutex());
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, "open the tuning database", path);
  const Identity file(info.st_dev, info.st_ino);
  if (!Uses().contains(file)) HONE_RETURN_IF_ERROR(InspectDatabaseFile(path));
  ++Uses()[file];
  return std::unique_ptr<DatabaseUse>(new DatabaseUse(file));
}

DatabaseUse::~DatabaseUse() {
  const std::lock_guard lock(Mutex());
  const auto it = Uses().find(file_);
  if (--it->second == 0) Uses().erase(it);
}

}  // namespace hone::tuning_db::sqlite
