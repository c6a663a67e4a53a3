// How a program logs: lines of text for people, or lines with one JSON object each for programs
// that collect logs.
#ifndef HONE_SUPPORT_LOG_H_
#define HONE_SUPPORT_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spdlog {
class formatter;
}

namespace hone {

enum class LogFormat {
  kText,
  // {"time": RFC 3339 in UTC, "level", "component", "message"} and the fields of LogFields.
  kJson,
};

// "text" or "json".
std::optional<LogFormat> ParseLogFormat(std::string_view name);

// Makes spdlog's default logger write to stderr in this format. `component` is the program's name.
// Call this while the process has only one thread.
void StartLog(const std::string& component, LogFormat format);
// The format that StartLog was given; kText before the call.
LogFormat CurrentLogFormat();

// Makes the formatter for kJson. It is declared here for tests only.
std::unique_ptr<spdlog::formatter> MakeJsonFormatter();

// Adds fields to the JSON of every line that this thread logs while the object lives. They say what
// the line is about. In kText they are left out, because the messages themselves name what people
// need. Objects may nest, and are destroyed in the reverse order of their construction.
class LogFields {
 public:
  using Value = std::variant<std::string, int64_t>;
  using List = std::initializer_list<std::pair<const char*, Value>>;

  LogFields(List fields);
  ~LogFields();
  LogFields(const LogFields&) = delete;
  LogFields& operator=(const LogFields&) = delete;

 private:
  const size_t count_;
};

}  // namespace hone

#endif  // HONE_SUPPORT_LOG_H_
