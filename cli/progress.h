// A line of progress on stderr, for everything that takes longer than a second.
#ifndef HONE_CLI_PROGRESS_H_
#define HONE_CLI_PROGRESS_H_

#include <cstdint>
#include <string>

#include "support/clock.h"

namespace hone::cli {

// On a terminal, one line that is drawn over. Elsewhere, and if there is a label because others
// print at the same time, a new line now and then, which begins with the label. Not thread-safe.
class Progress {
 public:
  explicit Progress(const Clock& clock, std::string label = "");
  ~Progress();  // wipes the line on a terminal

  // Replaces the line's text. It is drawn at most ten times a second (every ten seconds off a
  // terminal).
  void Update(const std::string& text);
  // Prints a line that stays.
  void Print(const std::string& line);
  double ElapsedSeconds() const;

 private:
  void Clear();

  const Clock& clock_;
  const int64_t start_ns_;
  const std::string label_;
  const bool terminal_;
  int64_t last_ns_ = -1;
  size_t width_ = 0;
};

// "1:05" or "1:02:03".
std::string FormatSeconds(double seconds);
// "12.3 us", "4.56 ms".
std::string FormatNs(double ns);

}  // namespace hone::cli

#endif  // HONE_CLI_PROGRESS_H_
