// Puts texts that others wrote on one line, for logs and for messages of jobs.
#ifndef HONE_TUNER_ONE_LINE_H_
#define HONE_TUNER_ONE_LINE_H_

#include <algorithm>
#include <cctype>
#include <string>

namespace hone::tuner {

// Replaces control characters by blanks: logs and lists have one line for each entry, terminals
// obey some control characters, and not every store takes a NUL.
inline std::string OnOneLine(std::string text) {
  std::ranges::replace_if(text, [](unsigned char byte) { return std::iscntrl(byte) != 0; }, ' ');
  return text;
}

}  // namespace hone::tuner

#endif  // HONE_TUNER_ONE_LINE_H_
