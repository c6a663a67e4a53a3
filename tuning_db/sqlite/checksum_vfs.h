// Adds checksums to the pages of a database, so that damage is noticed. SQLite has none by default
// (decision 0023).
#ifndef HONE_TUNING_DB_SQLITE_CHECKSUM_VFS_H_
#define HONE_TUNING_DB_SQLITE_CHECKSUM_VFS_H_

#include <cstddef>

namespace hone::tuning_db::sqlite {

// SQLite reserves these bytes for us at the end of each page.
inline constexpr int kChecksumBytes = 8;
// The offset in a database's header of the number of reserved bytes
// (https://www.sqlite.org/fileformat2.html).
inline constexpr size_t kReservedAt = 20;

// The name of a VFS on top of the default one. It writes a checksum into each page of a database
// that reserves the bytes for it, and returns SQLITE_IOERR_DATA if a page that is read has another.
// The first call registers it.
const char* ChecksumVfs();

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_CHECKSUM_VFS_H_
