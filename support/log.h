// How a program logs: lines for people, or an object of JSON a line for machines that collect them.
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

// spdlog's default logger writes to stderr from here on. `component` is the program's name. Called
// while the process has one thread.
void StartLog(const std::string& component, LogFormat format);
// What StartLog was told; kText before.
LogFormat CurrentLogFormat();

// For StartLog, and its test.
std::unique_ptr<spdlog::formatter> MakeJsonFormatter();

// What the lines are about that this thread logs while the object lives: fields of their JSON. In
// text they are left out: a message names what people need. Objects may nest; they end in the
// reverse order.
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
