// Makes texts that others wrote fit to be printed for people.
#ifndef HONE_CLI_PRINTABLE_H_
#define HONE_CLI_PRINTABLE_H_

#include <string>

#include "CLI/CLI.hpp"

namespace hone::cli {

// The text with U+FFFD in place of bytes that are not UTF-8.
std::string ToUtf8(const std::string& text);
// The text on one line, and without characters that terminals obey: names of models come from
// whoever submitted them.
std::string Printable(const std::string& text);
// Checks that a flag's text is UTF-8, as texts in messages to a server must be.
CLI::Validator Utf8Text();

}  // namespace hone::cli

#endif  // HONE_CLI_PRINTABLE_H_
