#include "tuning_db/log_io.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "support/status.h"
#include "tuning_db/cursor.h"
#include "tuning_db/log_import.h"

namespace hone::tuning_db {
namespace {

constexpr int64_t kPageLimit = 1000;

// Writes the lines of a page.
class PageWriter {
 public:
  PageWriter() { page_.lines = fmt::format("{}\n", kLogFirstLine); }

  bool IsFull() const { return page_.lines.size() >= kLogPageBytes; }
  void Add(const LogLine& line) {
    page_.lines += ToJson(line);
    page_.lines += '\n';
    ++(line.is_final ? page_.counts.finals : page_.counts.records);
  }
  LogPage End(std::string next, bool is_last) && {
    page_.next = std::move(next);
    page_.is_last = is_last;
    return std::move(page_);
  }

 private:
  LogPage page_;
};

absl::StatusOr<LogPage> ExportRecords(Store& store, const RecordFilter& filter,
                                      const std::string& cursor, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const RecordPage page,
                        store.ListRecords(filter, Order::kOldestFirst, cursor, limit));
  PageWriter writer;
  std::map<int64_t, Task> tasks;
  for (const Record& record : page.records) {
    const auto [task, is_new] = tasks.try_emplace(record.of_trial.task);
    if (is_new) {
      HONE_ASSIGN_OR_RETURN(task->second, store.GetTask(task->first));
    }
    writer.Add({.task = task->second, .is_final = false, .record = record, .final = {}});
    if (writer.IsFull()) {
      return std::move(writer).End(ToCursor(Order::kOldestFirst, record.id), false);
    }
  }
  return std::move(writer).End(page.is_last ? ToFinalCursor({}) : page.next, false);
}

absl::StatusOr<bool> HasRecord(Store& store, RecordFilter filter, const Final& final) {
  filter.task = final.task;
  filter.signature = final.signature;
  HONE_ASSIGN_OR_RETURN(const RecordPage page,
                        store.ListRecords(filter, Order::kNewestFirst, "", 1));
  return !page.records.empty();
}

absl::StatusOr<LogPage> ExportFinals(Store& store, const RecordFilter& filter,
                                     const std::string& cursor, int64_t limit) {
  // What counts for nothing would stand for the newest that does.
  RecordFilter of_finals = filter;
  of_finals.with_retracted = false;
  HONE_ASSIGN_OR_RETURN(const FinalPage page, store.ListFinals(of_finals, cursor, limit));
  PageWriter writer;
  for (const auto& [task, final] : page.finals) {
    HONE_ASSIGN_OR_RETURN(const bool is_wanted, HasRecord(store, filter, final));
    if (!is_wanted) continue;
    writer.Add({.task = task, .is_final = true, .record = {}, .final = final});
    if (writer.IsFull()) {
      return std::move(writer).End(ToFinalCursor({.task = task.id, .final = final.id}), false);
    }
  }
  return std::move(writer).End(page.next, page.is_last);
}

absl::Status BadLine(int64_t number, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("line {}: {}", number, what));
}

}  // namespace

absl::StatusOr<LogPage> ExportLogPage(Store& store, const RecordFilter& filter,
                                      const std::string& cursor, int64_t limit) {
  if (cursor.starts_with('f')) return ExportFinals(store, filter, cursor, limit);
  return ExportRecords(store, filter, cursor, limit);
}

absl::StatusOr<LogCounts> ExportLog(Store& store, const RecordFilter& filter, std::ostream& out) {
  LogCounts counts;
  out << kLogFirstLine << "\n";
  LogPage page;
  while (!page.is_last) {
    HONE_ASSIGN_OR_RETURN(page, ExportLogPage(store, filter, page.next, kPageLimit));
    out << std::string_view(page.lines).substr(sizeof(kLogFirstLine));
    if (!out) return absl::InternalError("cannot write the tuning log");
    counts.records += page.counts.records;
    counts.finals += page.counts.finals;
  }
  if (!out.flush()) return absl::InternalError("cannot write the tuning log");
  return counts;
}

absl::Status ReadLog(std::istream& in, const std::function<absl::Status(LogLine&& line)>& take) {
  std::string text;
  if (!std::getline(in, text) || text != kLogFirstLine) {
    return BadLine(1, fmt::format("not a tuning log; expected {}", kLogFirstLine));
  }
  for (int64_t number = 2; std::getline(in, text); ++number) {
    absl::StatusOr<LogLine> line = ParseLogLine(text);
    if (!line.ok()) return BadLine(number, std::string(line.status().message()));
    HONE_RETURN_IF_ERROR(take(*std::move(line)));
  }
  return in.bad() ? absl::InternalError("cannot read the tuning log") : absl::OkStatus();
}

absl::StatusOr<LogCounts> ImportLog(Store& store, std::istream& in) {
  const std::istream::pos_type begin = in.tellg();
  HONE_RETURN_IF_ERROR(ReadLog(in, [](LogLine&&) { return absl::OkStatus(); }));
  in.clear();
  if (!in.seekg(begin)) return absl::InternalError("cannot read the tuning log a second time");
  LogImport importer(&store);
  HONE_RETURN_IF_ERROR(
      ReadLog(in, [&importer](LogLine&& line) { return importer.Add(std::move(line)); }));
  return importer.Finish();
}

}  // namespace hone::tuning_db
