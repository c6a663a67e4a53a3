// Lists of records: first the ids that match, by the index that suits, then their rows.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "support/status.h"
#include "tuning_db/cursor.h"
#include "tuning_db/sqlite/rows.h"

namespace hone::tuning_db::sqlite {
namespace {

// Above so many records in a span of time, walking them in order finds a page sooner than sorting
// the span does.
constexpr int64_t kLongSpan = 50'000;

// What is asked, as ids of rows. Nothing where no row can match.
struct Question {
  RecordFilter filter;
  Order order = Order::kOldestFirst;
  int64_t after = 0;
  int64_t limit = -1;  // of ids; -1: all
  std::optional<int64_t> signature;
  std::optional<int64_t> device;
  bool is_short_span = false;
};

// The value of an enum stands in the text, since an index of some values is used only by a query
// that says so itself.
template <typename Enum>
std::string IsRare(const char* column, Enum value) {
  const auto number = static_cast<int64_t>(value);
  if (number == 0) return fmt::format(" AND {} = 0", column);
  return fmt::format(" AND {0} <> 0 AND {0} = {1}", column, number);
}

bool IsOfTasks(const RecordFilter& filter) {
  return filter.task || !filter.target.empty() || !filter.workload_substring.empty();
}

// The index that the ids come from; empty: those of each task, or all rows. It is named, since
// SQLite knows neither how many rows have a value nor that a partial index is small. What is rare
// goes first: the worst that a page costs is a look at all rows that the index has of the value.
std::string_view IndexFor(const Question& question) {
  const RecordFilter& filter = question.filter;
  if (filter.task) return "";
  if (filter.outcome && *filter.outcome != Outcome::kOk) return "records_of_outcome";
  if (filter.purpose && *filter.purpose != Purpose::kSearch) return "records_of_purpose";
  if (question.is_short_span) return "records_of_time";
  if (filter.job) return "records_of_job";
  if (question.device) return "records_of_device";
  return "";
}

// The tasks that the filter names by target and by a part of the workload.
constexpr char kTasks[] =
    "SELECT k.id FROM tasks k JOIN texts w ON w.id = k.workload "
    "WHERE (? OR k.target = ?) AND (? OR INSTR(w.body, ?) > 0) AND (? OR k.id = ?)";

absl::Status BindTasks(Connection& db, const RecordFilter& filter, Statement& query) {
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> target, FindText(db, filter.target));
  query.Bind(filter.target.empty(), target, filter.workload_substring.empty(),
             filter.workload_substring, !filter.task.has_value(), filter.task);
  return absl::OkStatus();
}

// The question asked of one task, or of all that the filter names.
std::string SqlFor(const Question& question, std::string_view index, bool is_of_task) {
  const RecordFilter& filter = question.filter;
  const bool is_newest_first = question.order == Order::kNewestFirst;
  std::string sql =
      fmt::format("SELECT id FROM records{}{} WHERE id {} ?", index.empty() ? "" : " INDEXED BY ",
                  index, is_newest_first ? "<" : ">");
  if (is_of_task) {
    sql += " AND task = ?";
  } else if (IsOfTasks(filter)) {
    sql += fmt::format(" AND task IN ({})", kTasks);
  }
  if (question.signature) sql += " AND signature = ?";
  if (question.device) sql += " AND device = ?";
  if (filter.job) sql += *filter.job == 0 ? " AND job IS NULL" : " AND job = ?";
  if (filter.since_wall_ns != 0) sql += " AND wall_time_ns >= ?";
  if (filter.before_wall_ns != 0) sql += " AND wall_time_ns < ?";
  if (filter.purpose) sql += IsRare("purpose", *filter.purpose);
  if (filter.outcome) sql += IsRare("outcome", *filter.outcome);
  if (!filter.with_retracted) sql += " AND id NOT IN (SELECT record FROM retractions)";
  return sql + fmt::format(" ORDER BY id{} LIMIT ?", is_newest_first ? " DESC" : "");
}

absl::Status AddIds(Connection& db, const Question& question, std::string_view index,
                    std::optional<int64_t> task, std::vector<int64_t>& ids) {
  const RecordFilter& filter = question.filter;
  HONE_ASSIGN_OR_RETURN(Statement query, db.Prepare(SqlFor(question, index, task.has_value())));
  query.Bind(question.after);
  if (task) {
    query.Bind(*task);
  } else if (IsOfTasks(filter)) {
    HONE_RETURN_IF_ERROR(BindTasks(db, filter, query));
  }
  if (question.signature) query.Bind(*question.signature);
  if (question.device) query.Bind(*question.device);
  if (filter.job && *filter.job != 0) query.Bind(*filter.job);
  if (filter.since_wall_ns != 0) query.Bind(filter.since_wall_ns);
  if (filter.before_wall_ns != 0) query.Bind(filter.before_wall_ns);
  query.Bind(question.limit);
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return absl::OkStatus();
    ids.push_back(query.Integer(0));
  }
}

absl::StatusOr<std::vector<int64_t>> TasksOf(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(Statement query, db.Prepare(kTasks));
  HONE_RETURN_IF_ERROR(BindTasks(db, filter, query));
  std::vector<int64_t> tasks;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return tasks;
    tasks.push_back(query.Integer(0));
  }
}

absl::StatusOr<bool> IsShortSpan(Connection& db, const RecordFilter& filter) {
  if (filter.since_wall_ns == 0 && filter.before_wall_ns == 0) return false;
  HONE_ASSIGN_OR_RETURN(
      const auto count,
      db.Integer("SELECT COUNT(*) FROM (SELECT 1 FROM records WHERE wall_time_ns >= ? AND "
                 "wall_time_ns < ? LIMIT ?)",
                 filter.since_wall_ns,
                 filter.before_wall_ns != 0 ? filter.before_wall_ns : INT64_MAX, kLongSpan));
  return count.value_or(0) < kLongSpan;
}

// Each task's own ids come in order from its index, and so a page of all needs no more of each than
// the page is long.
absl::StatusOr<std::vector<int64_t>> IdsOfTasks(Connection& db, const Question& question) {
  std::vector<int64_t> ids;
  std::vector<int64_t> tasks;
  if (question.filter.target.empty() && question.filter.workload_substring.empty()) {
    tasks = {*question.filter.task};
  } else {
    HONE_ASSIGN_OR_RETURN(tasks, TasksOf(db, question.filter));
  }
  for (const int64_t task : tasks) {
    HONE_RETURN_IF_ERROR(AddIds(db, question, "records_of_task", task, ids));
  }
  std::ranges::sort(ids);
  if (question.order == Order::kNewestFirst) std::ranges::reverse(ids);
  if (question.limit >= 0 && ids.size() > static_cast<size_t>(question.limit)) {
    ids.resize(static_cast<size_t>(question.limit));
  }
  return ids;
}

absl::StatusOr<std::vector<int64_t>> MatchingIds(Connection& db, Question& question) {
  const RecordFilter& filter = question.filter;
  std::vector<int64_t> ids;
  if (filter.signature) {
    HONE_ASSIGN_OR_RETURN(question.signature, FindText(db, *filter.signature));
    if (!question.signature) return ids;
  }
  if (!filter.device.empty()) {
    HONE_ASSIGN_OR_RETURN(question.device, FindText(db, filter.device));
    if (!question.device) return ids;
  }
  HONE_ASSIGN_OR_RETURN(question.is_short_span, IsShortSpan(db, filter));
  const std::string_view index = IndexFor(question);
  if (index.empty() && IsOfTasks(filter)) return IdsOfTasks(db, question);
  HONE_RETURN_IF_ERROR(AddIds(db, question, index, std::nullopt, ids));
  return ids;
}

}  // namespace

absl::StatusOr<RecordPage> ReadRecords(Connection& db, const RecordFilter& filter, Order order,
                                       const std::string& cursor, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const int64_t after, FromCursor(order, cursor));
  Question question{.filter = filter,
                    .order = order,
                    .after = after,
                    .limit = limit > 0 ? limit + 1 : -1,
                    .signature = std::nullopt,
                    .device = std::nullopt,
                    .is_short_span = false};
  HONE_ASSIGN_OR_RETURN(std::vector<int64_t> ids, MatchingIds(db, question));
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
