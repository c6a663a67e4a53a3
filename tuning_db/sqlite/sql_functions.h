// SQL functions of our own, for migrations and texts.
#ifndef HONE_TUNING_DB_SQLITE_SQL_FUNCTIONS_H_
#define HONE_TUNING_DB_SQLITE_SQL_FUNCTIONS_H_

#include <cstdint>
#include <string_view>

struct sqlite3;

namespace hone::tuning_db::sqlite {

// The first 64 bits of the SHA-256 of a text: the key by which the table `texts` is searched.
int64_t TextKey(std::string_view text);

// Adds text_key(T), which is TextKey, and digest_blob(T), the 32 bytes of a digest in hexadecimal,
// or T itself if it is not a digest. Returns a SQLite result code.
int AddSqlFunctions(sqlite3* handle);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_SQL_FUNCTIONS_H_
