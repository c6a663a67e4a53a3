#include "tuning_db/sqlite/sql_functions.h"

#include <sqlite3.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/digest.h"
#include "tuning_db/digest_bytes.h"
#include "tuning_db/sqlite/packed_reals.h"

namespace hone::tuning_db::sqlite {
namespace {

std::string_view TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return "";
  return {text, static_cast<size_t>(sqlite3_value_bytes(value))};
}

void RunTextKey(sqlite3_context* context, int, sqlite3_value** arguments) {
  sqlite3_result_int64(context, TextKey(TextOf(arguments[0])));
}

void RunDigestBlob(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto bytes = DigestToBytes(TextOf(arguments[0]));
  if (!bytes) return sqlite3_result_value(context, arguments[0]);
  sqlite3_result_blob(context, bytes->data(), static_cast<int>(bytes->size()), SQLITE_TRANSIENT);
}

void RunPackedReals(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto size = static_cast<size_t>(sqlite3_value_bytes(arguments[0]));
  std::vector<double> values(size / sizeof(double));
  if (!values.empty()) {
    std::memcpy(values.data(), sqlite3_value_blob(arguments[0]), values.size() * sizeof(double));
  }
  const std::string bytes = PackReals(values);
  sqlite3_result_blob(context, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
}

}  // namespace

int64_t TextKey(std::string_view text) {
  Sha256Stream stream;
  stream.Add(text);
  const std::array<uint8_t, 32> digest = stream.Finish();
  uint64_t key = 0;
  for (size_t i = 0; i < sizeof(key); ++i) key = key << 8 | digest[i];
  return static_cast<int64_t>(key);
}

int AddSqlFunctions(sqlite3* handle) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  const std::pair<const char*, void (*)(sqlite3_context*, int, sqlite3_value**)> functions[] = {
      {"text_key", RunTextKey},
      {"digest_blob", RunDigestBlob},
      {"packed_reals", RunPackedReals},
  };
  for (const auto& [name, run] : functions) {
    const int code = sqlite3_create_function_v2(handle, name, 1, kFlags, nullptr, run, nullptr,
                                                nullptr, nullptr);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace hone::tuning_db::sqlite
