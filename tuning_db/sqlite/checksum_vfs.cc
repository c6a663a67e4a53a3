#include "tuning_db/sqlite/checksum_vfs.h"

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hone::tuning_db::sqlite {
namespace {

constexpr char kName[] = "hone-checksum";
constexpr size_t kHeaderBytes = 100;
constexpr size_t kLeastPage = 512;
constexpr size_t kLargestPage = 65536;

struct File {
  sqlite3_file base;
  sqlite3_file* below;  // the file of the VFS below
  bool is_database;     // and no log or journal, whose pages have none
  bool has_checksums;   // as its header says
};

sqlite3_file* Below(sqlite3_file* file) { return reinterpret_cast<File*>(file)->below; }
sqlite3_vfs* VfsBelow() { return sqlite3_vfs_find(nullptr); }

// FNV-1a over words, as strong against flipped bits as it needs to be: each step is a bijection,
// so that one that differs stays different.
uint64_t ChecksumOf(const char* page, size_t size) {
  uint64_t sum = 0xCBF29CE484222325u;
  for (size_t at = 0; at + kChecksumBytes < size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, page + at, sizeof(word));
    sum = (sum ^ word) * 0x100000001B3u;
  }
  return sum;
}

bool IsPage(size_t size, sqlite3_int64 offset) {
  return size >= kLeastPage && size <= kLargestPage && (size & (size - 1)) == 0 &&
         offset % static_cast<sqlite3_int64>(size) == 0;
}

// Where the header is read or written, it says whether the file has checksums.
void NoteHeader(File& file, const char* bytes, size_t size, sqlite3_int64 offset) {
  if (offset != 0 || size < kHeaderBytes) return;
  if (std::memcmp(bytes, "SQLite format 3", 16) != 0) return;
  file.has_checksums = bytes[kReservedAt] == kChecksumBytes;
}

int Close(sqlite3_file* file) {
  const int code = Below(file)->pMethods->xClose(Below(file));
  sqlite3_free(Below(file));
  return code;
}

int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  const int code = Below(file)->pMethods->xRead(Below(file), to, size, offset);
  auto& ours = *reinterpret_cast<File*>(file);
  if (code != SQLITE_OK || !ours.is_database) return code;
  const auto* page = static_cast<const char*>(to);
  const auto bytes = static_cast<size_t>(size);
  NoteHeader(ours, page, bytes, offset);
  if (!ours.has_checksums || !IsPage(bytes, offset)) return SQLITE_OK;
  uint64_t stored = 0;
  std::memcpy(&stored, page + bytes - kChecksumBytes, sizeof(stored));
  return stored == ChecksumOf(page, bytes) ? SQLITE_OK : SQLITE_IOERR_DATA;
}

int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  auto& ours = *reinterpret_cast<File*>(file);
  const auto bytes = static_cast<size_t>(size);
  if (ours.is_database) NoteHeader(ours, static_cast<const char*>(from), bytes, offset);
  if (!ours.has_checksums || !IsPage(bytes, offset)) {
    return Below(file)->pMethods->xWrite(Below(file), from, size, offset);
  }
  std::vector<char> page(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
  const uint64_t sum = ChecksumOf(page.data(), bytes);
  std::memcpy(page.data() + bytes - kChecksumBytes, &sum, sizeof(sum));
  return Below(file)->pMethods->xWrite(Below(file), page.data(), size, offset);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return Below(file)->pMethods->xTruncate(Below(file), size);
}
int Sync(sqlite3_file* file, int flags) { return Below(file)->pMethods->xSync(Below(file), flags); }
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Below(file)->pMethods->xFileSize(Below(file), size);
}
int Lock(sqlite3_file* file, int level) { return Below(file)->pMethods->xLock(Below(file), level); }
int Unlock(sqlite3_file* file, int level) {
  return Below(file)->pMethods->xUnlock(Below(file), level);
}
int CheckReservedLock(sqlite3_file* file, int* answer) {
  return Below(file)->pMethods->xCheckReservedLock(Below(file), answer);
}
int FileControl(sqlite3_file* file, int operation, void* argument) {
  return Below(file)->pMethods->xFileControl(Below(file), operation, argument);
}
int SectorSize(sqlite3_file* file) { return Below(file)->pMethods->xSectorSize(Below(file)); }
int Characteristics(sqlite3_file* file) {
  return Below(file)->pMethods->xDeviceCharacteristics(Below(file));
}
int ShmMap(sqlite3_file* file, int page, int size, int extend, void volatile** at) {
  return Below(file)->pMethods->xShmMap(Below(file), page, size, extend, at);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Below(file)->pMethods->xShmLock(Below(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Below(file)->pMethods->xShmBarrier(Below(file)); }
int ShmUnmap(sqlite3_file* file, int remove) {
  return Below(file)->pMethods->xShmUnmap(Below(file), remove);
}

// Version 2: without xFetch, since mapped pages would be read past us.
constexpr sqlite3_io_methods kMethods = {2,
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
  auto& ours = *reinterpret_cast<File*>(file);
  sqlite3_vfs* const below = VfsBelow();
  ours.base.pMethods = nullptr;
  ours.below = static_cast<sqlite3_file*>(sqlite3_malloc(below->szOsFile));
  if (ours.below == nullptr) return SQLITE_NOMEM;
  std::memset(ours.below, 0, static_cast<size_t>(below->szOsFile));
  ours.is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  ours.has_checksums = false;
  const int code = below->xOpen(below, name, ours.below, flags, out_flags);
  if (ours.below->pMethods != nullptr) {
    ours.base.pMethods = &kMethods;  // and SQLite closes it, opened or not
  } else {
    sqlite3_free(ours.below);
  }
  return code;
}

int Delete(sqlite3_vfs*, const char* name, int sync_folder) {
  return VfsBelow()->xDelete(VfsBelow(), name, sync_folder);
}
int AccessFile(sqlite3_vfs*, const char* name, int flags, int* answer) {
  return VfsBelow()->xAccess(VfsBelow(), name, flags, answer);
}
int FullPathname(sqlite3_vfs*, const char* name, int size, char* out) {
  return VfsBelow()->xFullPathname(VfsBelow(), name, size, out);
}
int Randomness(sqlite3_vfs*, int size, char* out) {
  return VfsBelow()->xRandomness(VfsBelow(), size, out);
}
int Sleep(sqlite3_vfs*, int microseconds) { return VfsBelow()->xSleep(VfsBelow(), microseconds); }
int CurrentTime(sqlite3_vfs*, double* now) { return VfsBelow()->xCurrentTime(VfsBelow(), now); }
int GetLastError(sqlite3_vfs*, int size, char* out) {
  return VfsBelow()->xGetLastError(VfsBelow(), size, out);
}
int CurrentTime64(sqlite3_vfs*, sqlite3_int64* now) {
  return VfsBelow()->xCurrentTimeInt64(VfsBelow(), now);
}

sqlite3_vfs MakeVfs() {
  sqlite3_vfs* const below = sqlite3_vfs_find(nullptr);
  sqlite3_vfs vfs = {};
  vfs.iVersion = 2;
  vfs.szOsFile = static_cast<int>(sizeof(File));
  vfs.mxPathname = below->mxPathname;
  vfs.zName = kName;
  vfs.xOpen = Open;
  vfs.xDelete = Delete;
  vfs.xAccess = AccessFile;
  vfs.xFullPathname = FullPathname;
  vfs.xRandomness = Randomness;
  vfs.xSleep = Sleep;
  vfs.xCurrentTime = CurrentTime;
  vfs.xGetLastError = GetLastError;
  vfs.xCurrentTimeInt64 = CurrentTime64;
  return vfs;
}

}  // namespace

const char* ChecksumVfs() {
  static sqlite3_vfs vfs = MakeVfs();
  static const int registered = sqlite3_vfs_register(&vfs, /*makeDflt=*/0);
  return registered == SQLITE_OK ? kName : nullptr;
}

}  // namespace hone::tuning_db::sqlite
