// Texts of others in what is printed for people.
#ifndef HONE_CLI_PRINTABLE_H_
#define HONE_CLI_PRINTABLE_H_

#include <string>

#include "CLI/CLI.hpp"

namespace hone::cli {

// With U+FFFD in place of bytes that are no UTF-8.
std::string ToUtf8(const std::string& text);
// On one line, and without what terminals obey: names of models come from whoever submitted them.
std::string Printable(const std::string& text);
// Checks that a flag's text is UTF-8, which is what messages to a server hold.
CLI::Validator Utf8Text();

}  // namespace hone::cli

#endif  // HONE_CLI_PRINTABLE_H_
