#include "tuning_db/sqlite/statement.h"

#include <sqlite3.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "tuning_db/digest_bytes.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/packed_reals.h"

namespace hone::tuning_db::sqlite {

static_assert(std::endian::native == std::endian::little, "figures are stored as their bytes");

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      handle_(std::exchange(other.handle_, nullptr)),
      bound_(other.bound_),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (handle_ == nullptr) return;
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
  const bool is_kept = connection_->idle_.try_emplace(sqlite3_sql(handle_), handle_).second;
  if (!is_kept) sqlite3_finalize(handle_);
}

absl::StatusOr<bool> Statement::Step() {
  if (bind_error_ != SQLITE_OK) return connection_->ErrorOf(bind_error_, "use");
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->ErrorOf(code, "use");
}

int64_t Statement::Integer(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::Real(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL
             ? std::numeric_limits<double>::quiet_NaN()
             : sqlite3_column_double(handle_, column);
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (text == nullptr) return "";
  return std::string(text, static_cast<size_t>(sqlite3_column_bytes(handle_, column)));
}

std::string Statement::DigestText(int column) const {
  DigestBytes bytes;
  const auto size = static_cast<size_t>(sqlite3_column_bytes(handle_, column));
  if (sqlite3_column_type(handle_, column) != SQLITE_BLOB || size != bytes.size()) {
    return Text(column);
  }
  std::memcpy(bytes.data(), sqlite3_column_blob(handle_, column), size);
  return DigestToText(bytes);
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

std::vector<double> Statement::Reals(int column) const {
  const void* blob = sqlite3_column_blob(handle_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(handle_, column));
  std::vector<double> values(size / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), blob, values.size() * sizeof(double));
  return values;
}

// A blob that is none is read from a damaged file, which its page's checksum tells: it reads as no
// figures.
std::vector<double> Statement::PackedReals(int column) const {
  const auto* blob = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(handle_, column));
  if (size == 0) return {};
  return UnpackReals({blob, size}).value_or(std::vector<double>());
}

void Statement::BindNext(double value) {
  if (std::isnan(value)) return BindNull();
  Note(sqlite3_bind_double(handle_, ++bound_, value));
}

void Statement::BindNext(std::string_view text) {
  Note(sqlite3_bind_text64(handle_, ++bound_, text.data() != nullptr ? text.data() : "",
                           text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::BindNext(const std::vector<double>& values) {
  const void* bytes = values.empty() ? static_cast<const void*>("") : values.data();
  Note(sqlite3_bind_blob64(handle_, ++bound_, bytes, values.size() * sizeof(double),
                           SQLITE_TRANSIENT));
}

void Statement::BindNext(const Digest& digest) {
  const std::optional<DigestBytes> bytes = DigestToBytes(digest.text);
  if (!bytes) return BindNext(digest.text);
  Note(sqlite3_bind_blob64(handle_, ++bound_, bytes->data(), bytes->size(), SQLITE_TRANSIENT));
}

void Statement::BindNext(const Packed& packed) {
  const std::string bytes = PackReals(packed.values);
  Note(sqlite3_bind_blob64(handle_, ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}

void Statement::BindInteger(int64_t value) { Note(sqlite3_bind_int64(handle_, ++bound_, value)); }

void Statement::BindNull() { Note(sqlite3_bind_null(handle_, ++bound_)); }

void Statement::Note(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

}  // namespace hone::tuning_db::sqlite
