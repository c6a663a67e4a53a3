// Lists of records: first the ids that match, by the index that suits, then their rows.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "support/status.h"
#include "tuning_db/cursor.h"
#include "tuning_db/sqlite/record_filter.h"
#include "tuning_db/sqlite/rows.h"

namespace hone::tuning_db::sqlite {
namespace {

// So many rows of an index are counted at most, to know which has few.
constexpr int64_t kMany = 100'000;
// As many rows of an index that has all that is asked cost what one row of the table does.
constexpr int64_t kRowsOfIndexPerRow = 4;

// What is asked, as ids of rows.
struct Question {
  FoundFilter filter;
  Order order = Order::kOldestFirst;
  IdRange ids;
  int64_t limit = -1;  // of ids; -1: all
};

// A way through the records: those with each of the values, in order from the column's index. It is
// named, since SQLite knows neither how many rows have a value nor that a partial index is small.
// Without a column all rows are walked.
struct Walk {
  std::string_view column = "";
  std::string_view index = "";
  std::vector<int64_t> values = {};
};

std::vector<Walk> WalksFor(const FoundFilter& filter) {
  const RecordFilter& said = filter.said;
  std::vector<Walk> walks;
  if (said.outcome && *said.outcome != Outcome::kOk) {
    walks.push_back({"outcome", "records_of_outcome", {static_cast<int64_t>(*said.outcome)}});
  } else if (said.is_failure) {
    Walk& failures = walks.emplace_back(Walk{"outcome", "records_of_outcome", {}});
    for (auto outcome = static_cast<int64_t>(Outcome::kInvalidConfig);
         outcome <= static_cast<int64_t>(Outcome::kCancelled); ++outcome) {
      failures.values.push_back(outcome);
    }
  }
  if (said.purpose && *said.purpose != Purpose::kSearch) {
    walks.push_back({"purpose", "records_of_purpose", {static_cast<int64_t>(*said.purpose)}});
  }
  if (said.job) walks.push_back({"job", "records_of_job", {*said.job}});
  if (filter.devices) walks.push_back({"device", "records_of_device", *filter.devices});
  if (filter.tasks) walks.push_back({"task", "records_of_task", *filter.tasks});
  return walks;
}

// Indices of some values are used only by a query that says so itself.
std::string IsValue(std::string_view column, int64_t value) {
  if (column == "job" && value == 0) return "job IS ?";
  if (column == "outcome" || column == "purpose")
    return fmt::format("{0} <> 0 AND {0} = ?", column);
  return fmt::format("{} = ?", column);
}

std::optional<int64_t> BoundValue(std::string_view column, int64_t value) {
  return column == "job" && value == 0 ? std::nullopt : std::optional(value);
}

// At most `most`.
absl::StatusOr<int64_t> CountRows(Connection& db, const Walk& walk, const IdRange& ids,
                                  int64_t most) {
  int64_t count = 0;
  for (const int64_t value : walk.values) {
    if (count >= most) break;
    HONE_ASSIGN_OR_RETURN(
        const auto rows,
        db.Integer(fmt::format("SELECT COUNT(*) FROM (SELECT 1 FROM records INDEXED BY {} WHERE {} "
                               "AND id BETWEEN ? AND ? LIMIT ?)",
                               walk.index, IsValue(walk.column, value)),
                   BoundValue(walk.column, value), ids.first, ids.last, most - count));
    count += rows.value_or(0);
  }
  return count;
}

// Whether more is said than which tasks.
bool IsOfMore(const RecordFilter& said) {
  return said.signature || said.job || said.purpose || said.outcome || said.is_failure ||
         !said.device.empty() || !said.device_prefix.empty() || said.since_wall_ns != 0 ||
         said.before_wall_ns != 0;
}

// The walk that sees the fewest rows until it is through: that is the worst that a page costs.
absl::StatusOr<Walk> ChooseWalk(Connection& db, const Question& question) {
  const RecordFilter& said = question.filter.said;
  std::vector<Walk> walks = WalksFor(question.filter);
  if (!IsOfMore(said) && !walks.empty()) return walks.back();
  const bool is_timed = said.since_wall_ns != 0 || said.before_wall_ns != 0;
  if (walks.empty() || (walks.size() == 1 && !is_timed && !question.filter.tasks)) {
    return walks.empty() ? Walk() : walks.front();
  }
  int64_t least = kMany;
  Walk best = is_timed ? Walk() : walks.front();
  if (is_timed) {
    HONE_ASSIGN_OR_RETURN(const auto newest, db.Integer("SELECT MAX(id) FROM records"));
    int64_t rows = 0;
    for (const IdRange& range : question.filter.ranges) {
      rows += std::max<int64_t>(0, std::min(range.last, newest.value_or(0)) - range.first + 1);
    }
    least = std::min(least, rows);
  }
  for (Walk& walk : walks) {
    // The index that has all that is asked is no order of ids: all of a task is looked at.
    const bool is_of_task = walk.column == "task" && !said.signature;
    const int64_t weight = is_of_task ? kRowsOfIndexPerRow : 1;
    const IdRange ids = is_of_task ? IdRange() : question.ids;
    HONE_ASSIGN_OR_RETURN(const int64_t rows, CountRows(db, walk, ids, least * weight));
    const int64_t cost = rows / weight + static_cast<int64_t>(walk.values.size());
    if (cost >= least) continue;
    least = cost;
    best = std::move(walk);
    if (is_of_task) best.index = "records_in_short";
  }
  return best;
}

// The ids of records with one value, or of all.
absl::Status AddIds(Connection& db, const Question& question, const Walk& walk,
                    std::optional<int64_t> value, const IdRange& ids, std::vector<int64_t>& found) {
  const bool is_newest_first = question.order == Order::kNewestFirst;
  std::string sql = "SELECT id FROM records";
  if (value) {
    sql += fmt::format(" INDEXED BY {} WHERE {} AND", walk.index, IsValue(walk.column, *value));
  } else {
    sql += " NOT INDEXED WHERE";
  }
  sql += fmt::format(" id BETWEEN ? AND ?{} ORDER BY id{} LIMIT ?",
                     ConditionsOf(question.filter, walk.column), is_newest_first ? " DESC" : "");
  HONE_ASSIGN_OR_RETURN(Statement query, db.Prepare(sql));
  if (value) query.Bind(BoundValue(walk.column, *value));
  query.Bind(ids.first, ids.last);
  BindConditions(question.filter, walk.column, query);
  query.Bind(question.limit);
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return absl::OkStatus();
    found.push_back(query.Integer(0));
  }
}

bool IsFull(const Question& question, const std::vector<int64_t>& ids) {
  return question.limit >= 0 && static_cast<int64_t>(ids.size()) >= question.limit;
}

// Range after range, until the page is full.
absl::StatusOr<std::vector<int64_t>> IdsInOrder(Connection& db, const Question& question,
                                                const Walk& walk) {
  std::vector<IdRange> ranges = question.filter.ranges;
  if (question.order == Order::kNewestFirst) std::ranges::reverse(ranges);
  std::vector<int64_t> ids;
  for (const IdRange& range : ranges) {
    const IdRange both{.first = std::max(range.first, question.ids.first),
                       .last = std::min(range.last, question.ids.last)};
    if (both.first > both.last) continue;
    HONE_RETURN_IF_ERROR(AddIds(db, question, walk, std::nullopt, both, ids));
    if (IsFull(question, ids)) break;
  }
  if (IsFull(question, ids)) ids.resize(static_cast<size_t>(question.limit));
  return ids;
}

// The records of each value come in order, and so a page of all needs no more of each than the page
// is long; once it is full, only those that come before its end.
absl::StatusOr<std::vector<int64_t>> IdsByValues(Connection& db, const Question& question,
                                                 const Walk& walk) {
  const bool is_newest_first = question.order == Order::kNewestFirst;
  std::vector<int64_t> ids;
  IdRange left = question.ids;
  const auto cut = [&] {
    std::ranges::sort(ids);
    if (is_newest_first) std::ranges::reverse(ids);
    if (!IsFull(question, ids)) return;
    ids.resize(static_cast<size_t>(question.limit));
    (is_newest_first ? left.first : left.last) = ids.back();
  };
  for (const int64_t value : walk.values) {
    const size_t before = ids.size();
    HONE_RETURN_IF_ERROR(AddIds(db, question, walk, value, left, ids));
    if (ids.size() > before && question.limit >= 0) cut();
  }
  cut();
  return ids;
}

absl::StatusOr<std::vector<int64_t>> MatchingIds(Connection& db, const RecordFilter& filter,
                                                 Order order, int64_t after, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(std::optional<FoundFilter> found, Find(db, filter));
  if (!found) return std::vector<int64_t>();
  Question question{.filter = *std::move(found), .order = order, .ids = {}, .limit = limit};
  question.ids.first = question.filter.ranges.front().first;
  question.ids.last = question.filter.ranges.back().last;
  if (order == Order::kNewestFirst) {
    question.ids.last = std::min(question.ids.last, after - 1);
  } else {
    question.ids.first = std::max(question.ids.first, after + 1);
  }
  if (question.ids.first > question.ids.last) return std::vector<int64_t>();
  HONE_ASSIGN_OR_RETURN(const Walk walk, ChooseWalk(db, question));
  return walk.column.empty() ? IdsInOrder(db, question, walk) : IdsByValues(db, question, walk);
}

}  // namespace

absl::StatusOr<RecordPage> ReadRecords(Connection& db, const RecordFilter& filter, Order order,
                                       const std::string& cursor, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const int64_t after, FromCursor(order, cursor));
  HONE_ASSIGN_OR_RETURN(std::vector<int64_t> ids,
                        MatchingIds(db, filter, order, after, limit > 0 ? limit + 1 : -1));
  RecordPage page{.records = {}, .next = cursor, .is_last = true};
  if (limit > 0 && static_cast<int64_t>(ids.size()) > limit) {
    ids.pop_back();
    page.is_last = false;
  }
  page.records.reserve(ids.size());
  for (const int64_t id : ids) {
    HONE_ASSIGN_OR_RETURN(page.records.emplace_back(), ReadRecord(db, id));
  }
  if (!ids.empty()) page.next = ToCursor(order, ids.back());
  return page;
}

}  // namespace hone::tuning_db::sqlite
