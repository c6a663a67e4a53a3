#include "cli/printable.h"

#include <nlohmann/json.hpp>

namespace hone::cli {

std::string ToUtf8(const std::string& text) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, replace));
}

std::string Printable(const std::string& text) {
  std::string printable = ToUtf8(text);
  for (char& character : printable) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < ' ' || byte == 0x7f) character = '?';
  }
  return printable;
}

CLI::Validator Utf8Text() {
  const auto check = [](const std::string& text) -> std::string {
    if (ToUtf8(text) == text) return "";
    return "expected a text in UTF-8, found '" + Printable(text) + "'";
  };
  return CLI::Validator(check, "TEXT");
}

}  // namespace hone::cli
