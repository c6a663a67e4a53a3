// Adds checksums to the pages of a database, which show damage; SQLite has none of its own
// (decision 0023).
#ifndef HONE_TUNING_DB_SQLITE_CHECKSUM_VFS_H_
#define HONE_TUNING_DB_SQLITE_CHECKSUM_VFS_H_

#include <cstddef>

namespace hone::tuning_db::sqlite {

// At the end of each page, where SQLite reserves them for us.
inline constexpr int kChecksumBytes = 8;
// Where a database's header has the number of them (https://www.sqlite.org/fileformat2.html).
inline constexpr size_t kReservedAt = 20;

// The VFS above the process's default one that writes a checksum into each page of a database that
// reserves the bytes for it, and answers SQLITE_IOERR_DATA where a page that is read has another.
// Registered by the first call.
const char* ChecksumVfs();

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_CHECKSUM_VFS_H_
