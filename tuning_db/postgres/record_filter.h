// A filter of the log as conditions of SQL, with the ids of rows in place of what it says in words.
#ifndef HONE_TUNING_DB_POSTGRES_RECORD_FILTER_H_
#define HONE_TUNING_DB_POSTGRES_RECORD_FILTER_H_

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tuning_db/log_store.h"
#include "tuning_db/postgres/connection.h"

namespace hone::tuning_db::postgres {

// Conditions on rows, and what is bound to them.
class Conditions {
 public:
  // "{}" is the parameter.
  template <typename Value>
  void Add(const std::string& condition, const Value& value) {
    text_ += " AND " + fmt::format(fmt::runtime(condition), Bind(value));
  }
  void Add(const std::string& condition) { text_ += " AND " + condition; }
  template <typename Value>
  std::string Bind(const Value& value) {
    parameters_.Add(value);
    return fmt::format("${}", parameters_.size());
  }
  const std::string& text() const { return text_; }
  const Parameters& parameters() const { return parameters_; }

 private:
  std::string text_;
  Parameters parameters_;
};

// The ids that rows may have of a column.
struct ColumnValues {
  std::string column;
  std::vector<int64_t> values;
};

struct FoundFilter {
  Conditions conditions;            // on records r
  std::vector<ColumnValues> lists;  // and these; the one to walk by first
};

// Nothing where no record can match.
absl::StatusOr<std::optional<FoundFilter>> Find(Connection& db, const RecordFilter& filter);
// The ids of tasks for which all holds that the filter says of them.
absl::StatusOr<std::vector<int64_t>> FindTasks(Connection& db, const RecordFilter& filter);

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_RECORD_FILTER_H_
