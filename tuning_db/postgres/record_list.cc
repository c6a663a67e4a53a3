// Lists of records: first the ids that match, by the index that suits, then their rows.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/status.h"
#include "tuning_db/cursor.h"
#include "tuning_db/postgres/record_filter.h"
#include "tuning_db/postgres/rows.h"

namespace hone::tuning_db::postgres {
namespace {

// At most `limit` (nothing: all). The ids of each task come in order from their index, and so a
// page of many tasks needs no more of each than the page is long; likewise of other lists.
absl::StatusOr<std::vector<int64_t>> MatchingIds(Connection& db, const RecordFilter& filter,
                                                 Order order, int64_t after,
                                                 std::optional<int64_t> limit) {
  HONE_ASSIGN_OR_RETURN(std::optional<FoundFilter> found, Find(db, filter));
  if (!found) return std::vector<int64_t>();
  Conditions& conditions = found->conditions;
  conditions.Add(order == Order::kNewestFirst ? "r.id < {}" : "r.id > {}", after);
  for (size_t i = 1; i < found->lists.size(); ++i) {
    conditions.Add("r." + found->lists[i].column + " = ANY({}::bigint[])", found->lists[i].values);
  }
  const std::string tail =
      fmt::format(" ORDER BY id{} LIMIT {}::bigint", order == Order::kNewestFirst ? " DESC" : "",
                  conditions.Bind(limit));
  std::string sql =
      fmt::format("SELECT r.id FROM records r WHERE true{}{}", conditions.text(), tail);
  if (!found->lists.empty()) {
    const ColumnValues& walked = found->lists.front();
    const std::string text = conditions.text();
    sql = fmt::format(
        "SELECT o.id FROM unnest({}::bigint[]) AS k (value) CROSS JOIN LATERAL "
        "(SELECT r.id FROM records r WHERE r.{} = k.value{}{}) o{}",
        conditions.Bind(walked.values), walked.column, text, tail, tail);
  }
  HONE_ASSIGN_OR_RETURN(const Rows rows, db.QueryWith(sql, conditions.parameters()));
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
