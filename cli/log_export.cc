#include "cli/log_export.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/log_filter.h"
#include "cli/log_lines.h"
#include "cli/log_source.h"
#include "fmt/format.h"
#include "support/output_file.h"
#include "support/random_id.h"
#include "support/status.h"
#include "tuning_db/anonymise.h"
#include "tuning_db/log_io.h"

namespace hone::cli {
namespace {

constexpr mode_t kMode = 0666;
constexpr size_t kKeyBytes = 32;

struct LogExportOptions {
  std::string file;
  LogPlace from;
  LogFilterFlags filter;
  bool anonymise = false;
  bool json = false;
};

// A file, or where there is none, stdout.
class Output {
 public:
  static absl::StatusOr<Output> Open(const std::string& path) {
    Output output;
    if (path.empty()) return output;
    HONE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path, kMode));
    output.file_.emplace(std::move(file));
    return output;
  }
  absl::Status Write(std::string_view bytes) {
    if (file_) return file_->Write(bytes);
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) {
      return absl::OkStatus();
    }
    return absl::InternalError("cannot write the tuning log to stdout");
  }
  absl::Status Commit() {
    if (file_) return file_->Commit();
    if (std::fflush(stdout) == 0) return absl::OkStatus();
    return absl::InternalError("cannot write the tuning log to stdout");
  }

 private:
  std::optional<OutputFile> file_;
};

// The lines of a part but the first.
std::string_view Lines(std::string_view part) {
  return part.substr(std::min(part.size(), part.find('\n') + 1));
}

absl::StatusOr<std::string> Anonymised(const std::string& part,
                                       const tuning_db::Anonymiser& anonymiser) {
  std::istringstream in(part);
  std::string lines;
  HONE_RETURN_IF_ERROR(tuning_db::ReadLog(in, [&](tuning_db::LogLine&& line) {
    anonymiser.Apply(line);
    lines += tuning_db::ToJson(line);
    lines += '\n';
    return absl::OkStatus();
  }));
  return lines;
}

absl::Status Export(const LogExportOptions& options) {
  if (options.json && options.file.empty()) {
    return WithExitCode(absl::InvalidArgumentError(
                            "expected a FILE with --json, found none: the log goes to stdout"),
                        kUsage);
  }
  HONE_ASSIGN_OR_RETURN(const v1::LogFilter filter, options.filter.Resolve());
  HONE_ASSIGN_OR_RETURN(const auto log, options.from.Open());
  HONE_ASSIGN_OR_RETURN(Output output, Output::Open(options.file));
  const tuning_db::Anonymiser anonymiser(RandomId(kKeyBytes));
  const std::unique_ptr<LogParts> parts = PartsOf(*log, filter);
  HONE_RETURN_IF_ERROR(output.Write(fmt::format("{}\n", tuning_db::kLogFirstLine)));
  int64_t count = 0;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const std::optional<std::string> part, parts->Next());
    if (!part) break;
    std::string anonymous;
    if (options.anonymise) {
      HONE_ASSIGN_OR_RETURN(anonymous, Anonymised(*part, anonymiser));
    }
    const std::string_view lines = options.anonymise ? anonymous : Lines(*part);
    count += std::ranges::count(lines, '\n');
    HONE_RETURN_IF_ERROR(output.Write(lines));
  }
  HONE_RETURN_IF_ERROR(output.Commit());
  if (options.json) {
    const nlohmann::json document = {{"schema", 1}, {"file", options.file}, {"lines", count}};
    PrintDocument(document);
  } else if (!options.file.empty()) {
    fmt::print("{} has {} records and finals\n", options.file, count);
  }
  return absl::OkStatus();
}

}  // namespace

void AddLogExport(CLI::App& log, Action& action) {
  auto options = std::make_shared<LogExportOptions>();
  CLI::App& verb = *log.add_subcommand("export", "Write it as lines that `import` reads");
  verb.add_option("FILE", options->file, "The file to write; without it, the log goes to stdout");
  options->from.AddTo(verb);
  options->filter.AddTo(verb, /*has_outcomes=*/true);
  verb.add_flag("--anonymise", options->anonymise, "Leave out what names people and machines");
  verb.add_flag("--json", options->json, "Prints one JSON document about the file");
  verb.callback([options, &action] { action = [options] { return Export(*options); }; });
}

}  // namespace hone::cli
