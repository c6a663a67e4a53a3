// Turns an error of CLI11, the parser of command lines, into a sentence like those of other errors.
#ifndef HONE_SUPPORT_PARSE_ERROR_H_
#define HONE_SUPPORT_PARSE_ERROR_H_

#include <string>

namespace CLI {
class ParseError;
}

namespace hone {

// The error as "expected ..., found ...", without the name of the program. An error of an unknown
// form keeps the parser's own words.
std::string SentenceOf(const CLI::ParseError& error);

}  // namespace hone

#endif  // HONE_SUPPORT_PARSE_ERROR_H_
