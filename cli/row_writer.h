// Prints lists that may be long, in the form that the user asked for.
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

// The flags --json and --format text|json|lines|csv.
struct FormatFlags {
  Format format = Format::kText;

  void AddTo(CLI::App& verb);
};

// Prints each row as it comes, so that a list of any length takes no more memory than a row. A row
// is printed as an element of one JSON document (kJson), as a line of JSON (kLines), as a line of
// CSV below a line of column names (kCsv; RFC 4180, except for the ends of lines), or as `text`
// makes it (kText). Not thread-safe.
class RowWriter {
 public:
  using Text = std::function<std::string(const nlohmann::json& row)>;

  // `name` is the name of the list in the JSON document; `columns` are the fields that CSV has, in
  // order; `head` is printed above texts, unless it is empty.
  RowWriter(Format format, std::string name, std::vector<std::string> columns, std::string head,
            Text text);

  void Write(const nlohmann::json& row);
  // Ends the list; a JSON document gets these fields beside it. Nothing is printed before the first
  // call of Write or Finish, so that a verb that fails at once prints nothing.
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
