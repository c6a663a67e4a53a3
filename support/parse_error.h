// Turns what a parser of command lines refused into a sentence of ours.
#ifndef HONE_SUPPORT_PARSE_ERROR_H_
#define HONE_SUPPORT_PARSE_ERROR_H_

#include <string>

namespace CLI {
class ParseError;
}

namespace hone {

// "expected ..., found ...", without the name of the program.
std::string SentenceOf(const CLI::ParseError& error);

}  // namespace hone

#endif  // HONE_SUPPORT_PARSE_ERROR_H_
