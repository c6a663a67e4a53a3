// Texts of others in logs and in messages of jobs.
#ifndef HONE_TUNER_ONE_LINE_H_
#define HONE_TUNER_ONE_LINE_H_

#include <algorithm>
#include <cctype>
#include <string>

namespace hone::tuner {

// With blanks in place of control characters: a log and a list have a line for each, terminals obey
// some, and not every store takes a NUL.
inline std::string OnOneLine(std::string text) {
  std::ranges::replace_if(text, [](unsigned char byte) { return std::iscntrl(byte) != 0; }, ' ');
  return text;
}

}  // namespace hone::tuner

#endif  // HONE_TUNER_ONE_LINE_H_
