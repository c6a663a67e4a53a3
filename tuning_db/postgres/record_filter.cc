#include "tuning_db/postgres/record_filter.h"

#include <utility>

#include "support/status.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/record_span.h"
#include "tuning_db/task_match.h"

namespace hone::tuning_db::postgres {
namespace {

// The value of an enum stands in the text, since an index of some values is used only by a query
// that says so itself.
template <typename Enum>
std::string IsRare(const char* column, Enum value) {
  const auto number = static_cast<int64_t>(value);
  if (number == 0) return fmt::format("r.{} = 0", column);
  return fmt::format("r.{0} <> 0 AND r.{0} = {1}", column, number);
}

// Each device that has records is found by one look into their index: there are few.
absl::StatusOr<std::vector<int64_t>> FindDevices(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("WITH RECURSIVE d (id) AS (SELECT MIN(device) FROM records UNION ALL "
               "SELECT (SELECT MIN(device) FROM records WHERE device > d.id) FROM d "
               "WHERE d.id IS NOT NULL) "
               "SELECT t.id, t.body FROM d JOIN texts t ON t.id = d.id"));
  std::vector<int64_t> devices;
  for (int i = 0; i < rows.size(); ++i) {
    const std::string device = rows[i].Text(1);
    const bool is_it = filter.device.empty() || device == filter.device;
    if (is_it && device.starts_with(filter.device_prefix)) devices.push_back(rows[i].Integer(0));
  }
  return devices;
}

// In which all are that match; nothing where none is.
absl::StatusOr<std::optional<IdRange>> FindRange(Connection& db, const RecordFilter& filter) {
  if (filter.since_wall_ns == 0 && filter.before_wall_ns == 0) return std::optional(IdRange());
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT MIN(block), MAX(block) FROM record_spans WHERE ($1 OR last_ns >= $2) AND "
               "($3 OR first_ns < $4)",
               filter.since_wall_ns == 0, filter.since_wall_ns, filter.before_wall_ns == 0,
               filter.before_wall_ns));
  if (rows[0].IsNull(0)) return std::optional<IdRange>();
  return std::optional(IdRange{.first = rows[0].Integer(0) << kSpanBits,
                               .last = ((rows[0].Integer(1) + 1) << kSpanBits) - 1});
}

void AddFailures(const RecordFilter& filter, FoundFilter& found) {
  if (!filter.is_failure || filter.outcome) return;
  ColumnValues failures{.column = "outcome", .values = {}};
  for (auto outcome = static_cast<int64_t>(Outcome::kInvalidConfig);
       outcome <= static_cast<int64_t>(Outcome::kCancelled); ++outcome) {
    failures.values.push_back(outcome);
  }
  found.conditions.Add("r.outcome <> 0");
  found.lists.push_back(std::move(failures));
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> FindTasks(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT k.id, w.body, g.body FROM tasks k JOIN texts w ON w.id = k.workload "
               "JOIN texts g ON g.id = k.target WHERE ($1 OR k.id = $2) AND ($3 OR g.body = $4) "
               "AND ($5 OR strpos(w.body, $6) > 0) AND ($7 OR strpos(w.body, $8) > 0)",
               !filter.task.has_value(), filter.task, filter.target.empty(), filter.target,
               filter.workload_substring.empty(), filter.workload_substring, filter.op.empty(),
               filter.op));
  std::vector<int64_t> tasks;
  for (int i = 0; i < rows.size(); ++i) {
    Task task;
    task.id = rows[i].Integer(0);
    task.workload = rows[i].Text(1);
    task.target = rows[i].Text(2);
    if (HoldsFor(filter, task)) tasks.push_back(task.id);
  }
  return tasks;
}

absl::StatusOr<std::optional<FoundFilter>> Find(Connection& db, const RecordFilter& filter) {
  const std::optional<FoundFilter> none;
  if (filter.is_failure && filter.outcome == Outcome::kOk) return none;
  FoundFilter found;
  Conditions& conditions = found.conditions;
  HONE_ASSIGN_OR_RETURN(const std::optional<IdRange> range, FindRange(db, filter));
  if (!range) return none;
  if (IsOfTasks(filter)) {
    HONE_ASSIGN_OR_RETURN(std::vector<int64_t> tasks, FindTasks(db, filter));
    if (tasks.empty()) return none;
    found.lists.push_back({"task", std::move(tasks)});
  }
  if (!filter.device.empty() || !filter.device_prefix.empty()) {
    HONE_ASSIGN_OR_RETURN(std::vector<int64_t> devices, FindDevices(db, filter));
    if (devices.empty()) return none;
    found.lists.push_back({"device", std::move(devices)});
  }
  AddFailures(filter, found);
  if (filter.signature) {
    HONE_ASSIGN_OR_RETURN(const auto text, FindText(db, *filter.signature));
    if (!text) return none;
    conditions.Add("r.signature = {}", *text);
  }
  if (filter.job) {
    *filter.job == 0 ? conditions.Add("r.job IS NULL") : conditions.Add("r.job = {}", *filter.job);
  }
  if (filter.since_wall_ns != 0 || filter.before_wall_ns != 0) {
    conditions.Add("r.id >= {}", range->first);
    conditions.Add("r.id <= {}", range->last);
  }
  if (filter.since_wall_ns != 0) conditions.Add("r.wall_time_ns >= {}", filter.since_wall_ns);
  if (filter.before_wall_ns != 0) conditions.Add("r.wall_time_ns < {}", filter.before_wall_ns);
  if (filter.purpose) conditions.Add(IsRare("purpose", *filter.purpose));
  if (filter.outcome) conditions.Add(IsRare("outcome", *filter.outcome));
  if (!filter.with_retracted) {
    conditions.Add("NOT EXISTS (SELECT FROM retractions x WHERE x.record = r.id)");
  }
  return std::optional(std::move(found));
}

}  // namespace hone::tuning_db::postgres
