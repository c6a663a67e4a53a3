#include "tests/tuning_db/fault_vfs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace hone::tuning_db {
namespace {

constexpr size_t kSector = 512;

// What is not synced yet: bytes at an offset, or a new size (bytes empty).
struct Pending {
  int64_t offset = 0;
  std::string bytes;
  bool is_truncation = false;
};

struct FileState {
  std::string durable;  // as of the last sync
  std::vector<Pending> pending;
};

struct Disk {
  std::mutex mutex;
  sqlite3_vfs* real = nullptr;
  FaultVfs::Fault fault = FaultVfs::Fault::kNone;
  int64_t at = 0;
  int64_t calls = 0;
  bool has_struck = false;
  std::map<std::string, FileState> files;
};

Disk& TheDisk() {
  static Disk disk;
  return disk;
}

std::string BytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void Apply(const Pending& change, std::string& contents) {
  const auto offset = static_cast<size_t>(change.offset);
  if (change.is_truncation) return contents.resize(offset);
  if (contents.size() < offset + change.bytes.size()) {
    contents.resize(offset + change.bytes.size());
  }
  contents.replace(offset, change.bytes.size(), change.bytes);
}

// Whether this call fails. Under the mutex.
bool Strikes(Disk& disk, bool is_write) {
  ++disk.calls;
  const bool is_due = disk.at > 0 && disk.calls >= disk.at;
  switch (disk.fault) {
    case FaultVfs::Fault::kNone:
      return false;
    case FaultVfs::Fault::kPowerLoss:
      disk.has_struck |= is_due;
      return is_due;
    case FaultVfs::Fault::kDiskFull:
      if (!is_write) return false;
      [[fallthrough]];
    case FaultVfs::Fault::kIoError:
      if (!is_due || disk.has_struck) return false;
      disk.has_struck = true;
      return true;
  }
  return false;
}

int CodeOf(const Disk& disk, int io_error) {
  return disk.fault == FaultVfs::Fault::kDiskFull ? SQLITE_FULL : io_error;
}

struct File {
  sqlite3_file base;
  std::string* path;
  sqlite3_file* real;
};

sqlite3_file* Real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }
const std::string& PathOf(sqlite3_file* file) { return *reinterpret_cast<File*>(file)->path; }

int Close(sqlite3_file* file) {
  auto* ours = reinterpret_cast<File*>(file);
  const int code = ours->real->pMethods->xClose(ours->real);
  sqlite3_free(ours->real);
  delete ours->path;
  return code;
}

int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  if (Strikes(disk, false)) return SQLITE_IOERR_READ;
  return Real(file)->pMethods->xRead(Real(file), to, size, offset);
}

int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  if (Strikes(disk, true)) return CodeOf(disk, SQLITE_IOERR_WRITE);
  disk.files[PathOf(file)].pending.push_back(
      {offset, std::string(static_cast<const char*>(from), static_cast<size_t>(size)), false});
  return Real(file)->pMethods->xWrite(Real(file), from, size, offset);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  if (Strikes(disk, true)) return CodeOf(disk, SQLITE_IOERR_TRUNCATE);
  disk.files[PathOf(file)].pending.push_back({size, "", true});
  return Real(file)->pMethods->xTruncate(Real(file), size);
}

int Sync(sqlite3_file* file, int) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  if (Strikes(disk, true)) return CodeOf(disk, SQLITE_IOERR_FSYNC);
  FileState& state = disk.files[PathOf(file)];
  for (const Pending& change : state.pending) Apply(change, state.durable);
  state.pending.clear();
  return SQLITE_OK;
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Real(file)->pMethods->xFileSize(Real(file), size);
}
int Lock(sqlite3_file* file, int level) { return Real(file)->pMethods->xLock(Real(file), level); }
int Unlock(sqlite3_file* file, int level) {
  return Real(file)->pMethods->xUnlock(Real(file), level);
}
int CheckReservedLock(sqlite3_file* file, int* answer) {
  return Real(file)->pMethods->xCheckReservedLock(Real(file), answer);
}
int FileControl(sqlite3_file* file, int operation, void* argument) {
  return Real(file)->pMethods->xFileControl(Real(file), operation, argument);
}
int SectorSize(sqlite3_file*) { return kSector; }
int Characteristics(sqlite3_file*) { return 0; }  // nothing is atomic, nothing safe to append
int ShmMap(sqlite3_file* file, int page, int size, int extend, void volatile** at) {
  return Real(file)->pMethods->xShmMap(Real(file), page, size, extend, at);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }
int ShmUnmap(sqlite3_file* file, int remove) {
  return Real(file)->pMethods->xShmUnmap(Real(file), remove);
}

const sqlite3_io_methods kMethods = {2,
                                     Close,
                                     Read,
                                     Write,
                                     Truncate,
                                     Sync,
                                     FileSize,
                                     Lock,
                                     Unlock,
                                     CheckReservedLock,
                                     FileControl,
                                     SectorSize,
                                     Characteristics,
                                     ShmMap,
                                     ShmLock,
                                     ShmBarrier,
                                     ShmUnmap,
                                     nullptr,
                                     nullptr};

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  file->pMethods = nullptr;
  if (Strikes(disk, false)) return SQLITE_CANTOPEN;
  auto* ours = reinterpret_cast<File*>(file);
  ours->real = static_cast<sqlite3_file*>(sqlite3_malloc(disk.real->szOsFile));
  std::memset(ours->real, 0, static_cast<size_t>(disk.real->szOsFile));
  const int code = disk.real->xOpen(disk.real, name, ours->real, flags, out_flags);
  if (code != SQLITE_OK) {
    sqlite3_free(ours->real);
    return code;
  }
  ours->path = new std::string(name != nullptr ? name : "");
  if (!disk.files.contains(*ours->path)) {
    disk.files[*ours->path].durable = BytesOf(*ours->path);
  }
  file->pMethods = &kMethods;
  return SQLITE_OK;
}

int Delete(sqlite3_vfs*, const char* name, int sync_folder) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  if (Strikes(disk, true)) return SQLITE_IOERR_DELETE;
  disk.files.erase(name);
  return disk.real->xDelete(disk.real, name, sync_folder);
}

sqlite3_vfs& Ours() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs copy = *TheDisk().real;  // its calls that take no file ignore which VFS they are of
    copy.szOsFile = sizeof(File);
    copy.zName = "fault";
    copy.xOpen = Open;
    copy.xDelete = Delete;
    copy.pNext = nullptr;
    return copy;
  }();
  return vfs;
}

}  // namespace

FaultVfs::FaultVfs() {
  Disk& disk = TheDisk();
  disk.real = sqlite3_vfs_find("unix");
  Arm(Fault::kNone, 0);
  EXPECT_EQ(sqlite3_vfs_register(&Ours(), /*makeDflt=*/1), SQLITE_OK);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&Ours());
  sqlite3_vfs_register(TheDisk().real, /*makeDflt=*/1);
}

void FaultVfs::Arm(Fault fault, int64_t at) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  disk.fault = fault;
  disk.at = at;
  disk.calls = 0;
  disk.has_struck = false;
  disk.files.clear();
}

int64_t FaultVfs::calls() const {
  const std::lock_guard lock(TheDisk().mutex);
  return TheDisk().calls;
}

bool FaultVfs::HasStruck() const {
  const std::lock_guard lock(TheDisk().mutex);
  return TheDisk().has_struck;
}

void FaultVfs::LosePower(Random& random) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  for (auto& [path, state] : disk.files) {
    if (path.empty()) continue;
    for (Pending& change : state.pending) {
      const uint64_t fate = random.Below(3);
      if (fate == 0) continue;  // lost
      if (fate == 1 && change.bytes.size() > kSector) {
        const size_t sectors = change.bytes.size() / kSector;
        change.bytes.resize(kSector * random.Below(sectors + 1));
      }
      Apply(change, state.durable);
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << state.durable;
  }
  disk.files.clear();
  disk.fault = Fault::kNone;
}

}  // namespace hone::tuning_db
