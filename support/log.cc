#include "support/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <nlohmann/json.hpp>

namespace hone {
namespace {

LogFormat current_format = LogFormat::kText;

// Sinks format in the thread that logs.
thread_local std::vector<std::pair<const char*, LogFields::Value>> fields_of_thread;

// "2026-11-27T08:00:00.123456Z"
std::string Rfc3339(spdlog::log_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(time - seconds).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                     fmt::gmtime(spdlog::log_clock::to_time_t(seconds)), us);
}

std::string_view View(spdlog::string_view_t text) { return {text.data(), text.size()}; }

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override {
    nlohmann::ordered_json object = {{"time", Rfc3339(line.time)},
                                     {"level", View(spdlog::level::to_string_view(line.level))},
                                     {"component", View(line.logger_name)},
                                     {"message", View(line.payload)}};
    for (const auto& [name, value] : fields_of_thread) {
      std::visit([&object, name = name](const auto& known) { object[name] = known; }, value);
    }
    // Messages hold what others have written, such as a candidate or a network.
    const std::string text =
        object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return MakeJsonFormatter(); }
};

}  // namespace

std::optional<LogFormat> ParseLogFormat(std::string_view name) {
  if (name == "text") return LogFormat::kText;
  if (name == "json") return LogFormat::kJson;
  return std::nullopt;
}

std::unique_ptr<spdlog::formatter> MakeJsonFormatter() { return std::make_unique<JsonFormatter>(); }

void StartLog(const std::string& component, LogFormat format) {
  current_format = format;
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>(component, sink);
  logger->set_level(spdlog::get_level());
  if (format == LogFormat::kJson) logger->set_formatter(MakeJsonFormatter());
  spdlog::set_default_logger(std::move(logger));
}

LogFormat CurrentLogFormat() { return current_format; }

LogFields::LogFields(List fields) : count_(fields.size()) {
  fields_of_thread.insert(fields_of_thread.end(), fields.begin(), fields.end());
}

LogFields::~LogFields() { fields_of_thread.resize(fields_of_thread.size() - count_); }

}  // namespace hone
