// Flags and arguments that are whole numbers.
#ifndef HONE_CLI_WHOLE_NUMBER_H_
#define HONE_CLI_WHOLE_NUMBER_H_

#include <charconv>
#include <concepts>
#include <limits>
#include <string>
#include <system_error>

#include "CLI/CLI.hpp"
#include "fmt/format.h"

namespace hone::cli {

// Checks that a text is a whole number from `least` to `most`, in decimal digits. CLI11's own
// checks compare doubles, and it turns a number that its type cannot hold into the type's greatest
// value.
template <std::integral Number>
CLI::Validator WholeNumber(Number least, Number most = std::numeric_limits<Number>::max()) {
  const auto check = [least, most](const std::string& text) -> std::string {
    Number value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    const bool is_one = error == std::errc() && end == last && value >= least && value <= most;
    if (is_one) return "";
    return fmt::format("expected a whole number from {} to {}, found '{}'", least, most, text);
  };
  return CLI::Validator(check, fmt::format("INT in [{} - {}]", least, most));
}

}  // namespace hone::cli

#endif  // HONE_CLI_WHOLE_NUMBER_H_
