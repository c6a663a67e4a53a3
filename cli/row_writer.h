// Lists that may be long, in the form that the user asked for.
#ifndef HONE_CLI_ROW_WRITER_H_
#define HONE_CLI_ROW_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace CLI {
class App;
}

namespace hone::cli {

enum class Format { kText, kJson, kLines, kCsv };

// --json, and --format text|json|lines|csv.
struct FormatFlags {
  Format format = Format::kText;

  void AddTo(CLI::App& verb);
};

// Prints each row as it comes, so that a list of any length takes no more memory than a row: of one
// JSON document, as a line of JSON, as a line of CSV below its names (RFC 4180, but for the ends of
// lines), or as `text` has it. Not thread-safe.
class RowWriter {
 public:
  using Text = std::function<std::string(const nlohmann::json& row)>;

  // `name` is that of the list in the document; `columns` are the fields that CSV has, in order;
  // `head` stands above texts (empty: nothing does).
  RowWriter(Format format, std::string name, std::vector<std::string> columns, std::string head,
            Text text);

  void Write(const nlohmann::json& row);
  // Ends the document, with these fields beside the list. Before the first of both nothing is
  // printed, so that what fails at once prints nothing.
  void Finish(const nlohmann::json& beside = nlohmann::json::object());

 private:
  void Begin();

  const Format format_;
  const std::string name_;
  const std::vector<std::string> columns_;
  const std::string head_;
  const Text text_;
  int64_t rows_ = -1;  // -1: it has not begun
};

}  // namespace hone::cli

#endif  // HONE_CLI_ROW_WRITER_H_
