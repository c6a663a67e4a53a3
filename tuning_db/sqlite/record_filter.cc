#include "tuning_db/sqlite/record_filter.h"

#include <fmt/format.h>

#include <utility>

#include "support/status.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/task_match.h"

namespace hone::tuning_db::sqlite {
namespace {

// Bound as one parameter, so that the text of the statement is the same for every list.
std::string ListText(const std::vector<int64_t>& ids) {
  return fmt::format("[{}]", fmt::join(ids, ","));
}

// The value of an enum stands in the text, since an index of some values is used only by a query
// that says so itself.
template <typename Enum>
std::string IsRare(const char* column, Enum value) {
  const auto number = static_cast<int64_t>(value);
  if (number == 0) return fmt::format(" AND {} = 0", column);
  return fmt::format(" AND {0} <> 0 AND {0} = {1}", column, number);
}

// Each device that has records is found by one look into their index: there are few.
absl::StatusOr<std::vector<int64_t>> FindDevices(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("WITH RECURSIVE d (id) AS (SELECT MIN(device) FROM records UNION ALL "
                 "SELECT (SELECT MIN(device) FROM records WHERE device > d.id) FROM d "
                 "WHERE d.id IS NOT NULL) "
                 "SELECT t.id, t.body FROM d JOIN texts t ON t.id = d.id"));
  std::vector<int64_t> devices;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return devices;
    const std::string device = query.Text(1);
    const bool is_it = filter.device.empty() || device == filter.device;
    if (is_it && device.starts_with(filter.device_prefix)) devices.push_back(query.Integer(0));
  }
}

// Blocks that follow each other are one range.
absl::StatusOr<std::vector<IdRange>> FindRanges(Connection& db, const RecordFilter& filter) {
  if (filter.since_wall_ns == 0 && filter.before_wall_ns == 0) return std::vector{IdRange()};
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT block FROM record_spans WHERE (? OR last_ns >= ?) AND (? OR first_ns < ?) "
                 "ORDER BY block"));
  query.Bind(filter.since_wall_ns == 0, filter.since_wall_ns, filter.before_wall_ns == 0,
             filter.before_wall_ns);
  std::vector<IdRange> ranges;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return ranges;
    const int64_t first = query.Integer(0) << kSpanBits;
    if (ranges.empty() || ranges.back().last + 1 != first) ranges.push_back({first, first});
    ranges.back().last = first + (int64_t{1} << kSpanBits) - 1;
  }
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> FindTasks(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT k.id, w.body, g.body FROM tasks k JOIN texts w ON w.id = k.workload "
                 "JOIN texts g ON g.id = k.target WHERE (? OR k.id = ?) AND (? OR g.body = ?) "
                 "AND (? OR INSTR(w.body, ?) > 0) AND (? OR INSTR(w.body, ?) > 0)"));
  query.Bind(!filter.task.has_value(), filter.task, filter.target.empty(), filter.target,
             filter.workload_substring.empty(), filter.workload_substring, filter.op.empty(),
             filter.op);
  std::vector<int64_t> tasks;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return tasks;
    Task task;
    task.id = query.Integer(0);
    task.workload = query.Text(1);
    task.target = query.Text(2);
    if (HoldsFor(filter, task)) tasks.push_back(task.id);
  }
}

absl::StatusOr<std::optional<FoundFilter>> Find(Connection& db, const RecordFilter& filter) {
  const std::optional<FoundFilter> none;
  if (filter.is_failure && filter.outcome == Outcome::kOk) return none;
  FoundFilter found;
  found.said = filter;
  if (filter.signature) {
    HONE_ASSIGN_OR_RETURN(found.signature, FindText(db, *filter.signature));
    if (!found.signature) return none;
  }
  if (IsOfTasks(filter)) {
    HONE_ASSIGN_OR_RETURN(found.tasks, FindTasks(db, filter));
    if (found.tasks->empty()) return none;
  }
  if (!filter.device.empty() || !filter.device_prefix.empty()) {
    HONE_ASSIGN_OR_RETURN(found.devices, FindDevices(db, filter));
    if (found.devices->empty()) return none;
  }
  HONE_ASSIGN_OR_RETURN(found.ranges, FindRanges(db, filter));
  if (found.ranges.empty()) return none;
  return std::optional(std::move(found));
}

std::string ConditionsOf(const FoundFilter& filter, std::string_view known) {
  const RecordFilter& said = filter.said;
  std::string sql;
  for (const auto& [column, list] :
       {std::pair("task", &filter.tasks), std::pair("device", &filter.devices)}) {
    if (!*list || known == column) continue;
    sql += fmt::format(" AND {} IN (SELECT value FROM json_each(?))", column);
  }
  if (filter.signature) sql += " AND signature = ?";
  if (said.job && known != "job") sql += *said.job == 0 ? " AND job IS NULL" : " AND job = ?";
  if (said.since_wall_ns != 0) sql += " AND wall_time_ns >= ?";
  if (said.before_wall_ns != 0) sql += " AND wall_time_ns < ?";
  if (said.purpose) sql += IsRare("purpose", *said.purpose);
  if (said.outcome) sql += IsRare("outcome", *said.outcome);
  if (said.is_failure && !said.outcome && known != "outcome") sql += " AND outcome <> 0";
  if (!said.with_retracted) sql += " AND id NOT IN (SELECT record FROM retractions)";
  return sql;
}

void BindConditions(const FoundFilter& filter, std::string_view known, Statement& query) {
  const RecordFilter& said = filter.said;
  if (filter.tasks && known != "task") query.Bind(ListText(*filter.tasks));
  if (filter.devices && known != "device") query.Bind(ListText(*filter.devices));
  if (filter.signature) query.Bind(*filter.signature);
  if (said.job && known != "job" && *said.job != 0) query.Bind(*said.job);
  if (said.since_wall_ns != 0) query.Bind(said.since_wall_ns);
  if (said.before_wall_ns != 0) query.Bind(said.before_wall_ns);
}

}  // namespace hone::tuning_db::sqlite
