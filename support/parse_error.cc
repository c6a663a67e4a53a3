#include "support/parse_error.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_replace.h"

namespace hone {
namespace {

using Parts = std::pair<std::string, std::string>;

// What is before and behind the first `mark`.
std::optional<Parts> SplitAt(const std::string& text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) return std::nullopt;
  return Parts{text.substr(0, at), text.substr(at + mark.size())};
}

std::optional<std::string> Extra(const std::string& text) {
  const auto parts = SplitAt(text, "not expected: ");
  if (!parts) return std::nullopt;
  return fmt::format("expected the flags and arguments of this verb, found '{}'", parts->second);
}

std::optional<std::string> Missing(const std::string& text) {
  if (text == "A subcommand is required") return "expected a verb, found none";
  const auto parts = SplitAt(text, " is required");
  if (!parts) return std::nullopt;
  return fmt::format("expected {}, found none", parts->first);
}

std::optional<std::string> Excluded(const std::string& text) {
  const auto parts = SplitAt(text, " excludes ");
  if (!parts) return std::nullopt;
  return fmt::format("expected {} or {}, found both", parts->first, parts->second);
}

std::optional<std::string> Alone(const std::string& text) {
  const auto parts = SplitAt(text, " requires ");
  if (!parts) return std::nullopt;
  return fmt::format("expected {} beside {}, found none", parts->second, parts->first);
}

std::optional<std::string> WithoutValue(const std::string& text) {
  if (!text.ends_with(" missing")) return std::nullopt;
  const auto parts = SplitAt(text, ": ");
  if (!parts) return std::nullopt;
  return fmt::format("expected a value for {}, found none", parts->first);
}

std::optional<std::string> NoNumber(const std::string& text) {
  const auto parts = SplitAt(text, "Could not convert: ");
  const auto flag = parts ? SplitAt(parts->second, " = ") : std::nullopt;
  if (!flag) return std::nullopt;
  return fmt::format("expected a number for {}, found '{}'", flag->first, flag->second);
}

// "--days: Value 0 not in range 1 to 36500".
std::optional<std::string> OutOfRange(const std::string& text) {
  const auto flag = SplitAt(text, ": Value ");
  const auto parts = flag ? SplitAt(flag->second, " not in range ") : std::nullopt;
  if (!parts) return std::nullopt;
  return fmt::format("expected a number from {} for {}, found '{}'", parts->second, flag->first,
                     parts->first);
}

// "--role: boss not in {read,work}".
std::optional<std::string> NoneOf(const std::string& text) {
  const auto flag = SplitAt(text, ": ");
  const auto parts = flag ? SplitAt(flag->second, " not in {") : std::nullopt;
  if (!parts || !parts->second.ends_with('}')) return std::nullopt;
  std::string words = parts->second.substr(0, parts->second.size() - 1);
  words = absl::StrReplaceAll(words, {{",", ", "}});
  return fmt::format("expected one of {} for {}, found '{}'", words, flag->first, parts->first);
}

// A validator of ours says it itself: "--trials: expected a whole number ...".
std::optional<std::string> Said(const std::string& text) {
  const auto parts = SplitAt(text, ": expected ");
  if (!parts) return std::nullopt;
  return fmt::format("{}: expected {}", parts->first, parts->second);
}

}  // namespace

std::string SentenceOf(const CLI::ParseError& error) {
  const std::string text = error.what();
  for (const auto& read :
       {Said, Extra, Missing, Excluded, Alone, WithoutValue, NoNumber, OutOfRange, NoneOf}) {
    if (std::optional<std::string> sentence = read(text)) return *std::move(sentence);
  }
  return text;
}

}  // namespace hone
