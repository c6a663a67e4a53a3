// A filter of the log as SQL conditions, with ids of rows in place of the filter's texts.
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

// Conditions on rows, and the values bound to them.
class Conditions {
 public:
  // "{}" in the condition stands for the parameter.
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

// The ids that a column of matching rows may have.
struct ColumnValues {
  std::string column;
  std::vector<int64_t> values;
};

struct FoundFilter {
  Conditions conditions;            // on records r
  std::vector<ColumnValues> lists;  // more conditions; rows are found by the first one
};

// nullopt if no record can match.
absl::StatusOr<std::optional<FoundFilter>> Find(Connection& db, const RecordFilter& filter);
// The ids of the tasks that meet all conditions of the filter on tasks.
absl::StatusOr<std::vector<int64_t>> FindTasks(Connection& db, const RecordFilter& filter);

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_RECORD_FILTER_H_
