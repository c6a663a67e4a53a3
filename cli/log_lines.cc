#include "cli/log_lines.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "fmt/format.h"
#include "support/status.h"

namespace hone::cli {
namespace {

constexpr uint32_t kPageSize = 1000;

class SourceParts final : public LogParts {
 public:
  SourceParts(LogSource* log, const v1::LogFilter& filter) : log_(log) {
    request_.set_page_size(kPageSize);
    *request_.mutable_filter() = filter;
  }

  absl::StatusOr<std::optional<std::string>> Next() override {
    if (is_over_) return std::nullopt;
    HONE_ASSIGN_OR_RETURN(v1::ExportLogResponse page, log_->ExportLog(request_));
    is_over_ = page.next_page_token().empty();
    request_.set_page_token(page.next_page_token());
    return std::move(*page.mutable_lines());
  }

 private:
  LogSource* const log_;
  v1::ExportLogRequest request_;
  bool is_over_ = false;
};

class FileParts final : public LogParts {
 public:
  FileParts(std::string path, std::ifstream file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::StatusOr<std::optional<std::string>> Next() override {
    std::string part = fmt::format("{}\n", tuning_db::kLogFirstLine);
    const size_t head = part.size();
    // What would not fit begins the next part.
    for (; has_line_ || std::getline(file_, line_); has_line_ = false) {
      has_line_ = true;
      if (part.size() > head && part.size() + line_.size() > tuning_db::kLogPageBytes) break;
      part += line_;
      part += '\n';
    }
    if (file_.bad()) return absl::InternalError(fmt::format("cannot read {}", path_));
    if (part.size() == head) return std::nullopt;
    return part;
  }

 private:
  const std::string path_;
  std::ifstream file_;
  std::string line_;
  bool has_line_ = false;
};

absl::StatusOr<std::ifstream> OpenLog(const std::string& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::not_found) {
    return absl::NotFoundError(fmt::format("expected a tuning log at {}, found no file", path));
  }
  // It is read twice.
  if (kind != std::filesystem::file_type::regular) {
    return absl::InvalidArgumentError(
        fmt::format("expected a tuning log at {}, found no regular file", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::PermissionDeniedError(fmt::format("cannot open {} to read it", path));
  return file;
}

}  // namespace

std::unique_ptr<LogParts> PartsOf(LogSource& log, const v1::LogFilter& filter) {
  return std::make_unique<SourceParts>(&log, filter);
}

absl::StatusOr<std::unique_ptr<LogParts>> PartsOfFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(std::ifstream file, OpenLog(path));
  std::string first;
  std::getline(file, first);
  if (first != tuning_db::kLogFirstLine) {
    return absl::InvalidArgumentError(
        fmt::format("expected a tuning log at {}, found another file", path));
  }
  return std::make_unique<FileParts>(path, std::move(file));
}

absl::Status CheckLogFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(std::ifstream file, OpenLog(path));
  const absl::Status status =
      tuning_db::ReadLog(file, [](tuning_db::LogLine&&) { return absl::OkStatus(); });
  if (status.ok()) return status;
  return absl::Status(status.code(), fmt::format("expected a tuning log at {}, found at {}", path,
                                                 std::string(status.message())));
}

LogTaker::LogTaker(WrittenLog* log) : log_(log) {
  if (log->store != nullptr) import_.emplace(log->store.get());
}

absl::Status LogTaker::Take(LogParts& parts) {
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const std::optional<std::string> part, parts.Next());
    if (!part) return absl::OkStatus();
    HONE_RETURN_IF_ERROR(TakePart(*part));
  }
}

absl::Status LogTaker::TakePart(const std::string& part) {
  if (import_) {
    std::istringstream lines(part);
    return tuning_db::ReadLog(
        lines, [this](tuning_db::LogLine&& line) { return import_->Add(std::move(line)); });
  }
  HONE_ASSIGN_OR_RETURN(const v1::ImportLogResponse added, log_->client->Import(part));
  counts_.records += added.records();
  counts_.finals += added.finals();
  counts_.known += added.known();
  return absl::OkStatus();
}

absl::StatusOr<tuning_db::LogCounts> LogTaker::Finish() {
  if (import_) return import_->Finish();
  return counts_;
}

}  // namespace hone::cli
