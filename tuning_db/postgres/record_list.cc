// Lists of records: first the ids that match, by the index that suits, then their rows.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/status.h"
#include "tuning_db/cursor.h"
#include "tuning_db/postgres/rows.h"

namespace hone::tuning_db::postgres {
namespace {

// The conditions on records r, and what is bound to them.
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

// The value of an enum stands in the text, since an index of some values is used only by a query
// that says so itself.
template <typename Enum>
std::string IsRare(const char* column, Enum value) {
  const auto number = static_cast<int64_t>(value);
  if (number == 0) return fmt::format("r.{} = 0", column);
  return fmt::format("r.{0} <> 0 AND r.{0} = {1}", column, number);
}

// The tasks that the filter names by target and by a part of the workload.
absl::StatusOr<std::vector<int64_t>> TasksOf(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> target, FindText(db, filter.target));
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT k.id FROM tasks k JOIN texts w ON w.id = k.workload WHERE "
               "($1 OR k.target = $2) AND ($3 OR strpos(w.body, $4) > 0) AND ($5 OR k.id = $6)",
               filter.target.empty(), target, filter.workload_substring.empty(),
               filter.workload_substring, !filter.task.has_value(), filter.task));
  return IdsOf(rows);
}

// Nothing where no row can match.
absl::StatusOr<std::optional<Conditions>> ConditionsOf(Connection& db, const RecordFilter& filter,
                                                       Order order, int64_t after) {
  Conditions conditions;
  conditions.Add(order == Order::kNewestFirst ? "r.id < {}" : "r.id > {}", after);
  if (filter.signature) {
    HONE_ASSIGN_OR_RETURN(const auto text, FindText(db, *filter.signature));
    if (!text) return std::optional<Conditions>();
    conditions.Add("r.signature = {}", *text);
  }
  if (!filter.device.empty()) {
    HONE_ASSIGN_OR_RETURN(const auto text, FindText(db, filter.device));
    if (!text) return std::optional<Conditions>();
    conditions.Add("r.device = {}", *text);
  }
  if (filter.job) {
    *filter.job == 0 ? conditions.Add("r.job IS NULL") : conditions.Add("r.job = {}", *filter.job);
  }
  if (filter.since_wall_ns != 0) conditions.Add("r.wall_time_ns >= {}", filter.since_wall_ns);
  if (filter.before_wall_ns != 0) conditions.Add("r.wall_time_ns < {}", filter.before_wall_ns);
  if (filter.purpose) conditions.Add(IsRare("purpose", *filter.purpose));
  if (filter.outcome) conditions.Add(IsRare("outcome", *filter.outcome));
  if (!filter.with_retracted) {
    conditions.Add("NOT EXISTS (SELECT FROM retractions x WHERE x.record = r.id)");
  }
  return std::optional(std::move(conditions));
}

// At most `limit` (nothing: all). Each task's own ids come in order from its index, and so a page
// of many tasks needs no more of each than the page is long.
absl::StatusOr<std::vector<int64_t>> MatchingIds(Connection& db, const RecordFilter& filter,
                                                 Order order, int64_t after,
                                                 std::optional<int64_t> limit) {
  HONE_ASSIGN_OR_RETURN(std::optional<Conditions> conditions,
                        ConditionsOf(db, filter, order, after));
  if (!conditions) return std::vector<int64_t>();
  const std::string most = conditions->Bind(limit);
  const std::string tail = fmt::format(" ORDER BY id{} LIMIT {}::bigint",
                                       order == Order::kNewestFirst ? " DESC" : "", most);
  std::string sql =
      fmt::format("SELECT r.id FROM records r WHERE true{}{}", conditions->text(), tail);
  if (filter.task || !filter.target.empty() || !filter.workload_substring.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> tasks, TasksOf(db, filter));
    const std::string of_tasks = conditions->Bind(tasks);
    sql = fmt::format(
        "SELECT o.id FROM unnest({}::bigint[]) AS k (task) CROSS JOIN LATERAL "
        "(SELECT r.id FROM records r WHERE r.task = k.task{}{}) o{}",
        of_tasks, conditions->text(), tail, tail);
  }
  HONE_ASSIGN_OR_RETURN(const Rows rows, db.QueryWith(sql, conditions->parameters()));
  return IdsOf(rows);
}

}  // namespace

absl::StatusOr<RecordPage> ListRecords(Connection& db, const RecordFilter& filter, Order order,
                                       const std::string& cursor, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const int64_t after, FromCursor(order, cursor));
  HONE_ASSIGN_OR_RETURN(
      std::vector<int64_t> ids,
      MatchingIds(db, filter, order, after, limit > 0 ? std::optional(limit + 1) : std::nullopt));
  RecordPage page{.records = {}, .next = cursor, .is_last = true};
  if (limit > 0 && static_cast<int64_t>(ids.size()) > limit) {
    ids.pop_back();
    page.is_last = false;
  }
  if (!ids.empty()) page.next = ToCursor(order, ids.back());
  HONE_ASSIGN_OR_RETURN(page.records, ReadRecords(db, ids));
  if (order == Order::kNewestFirst) std::ranges::reverse(page.records);
  return page;
}

}  // namespace hone::tuning_db::postgres
