// The lexical level of the graph text: characters, names, numbers, strings, positions.
#ifndef HONE_COMPILER_IR_SCANNER_H_
#define HONE_COMPILER_IR_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone::ir {

// A cursor over `text`, which outlives it. Functions that return a Status say in it what was
// expected and found, with line and column.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  size_t position() const { return position_; }
  void Seek(size_t position) { position_ = position; }

  void SkipSpace();  // and // comments
  bool AtEnd();
  char Peek();                           // after space; '\0' at the end
  char PeekNext() const;                 // the very next character, space included
  bool AtDigit(size_t ahead = 0) const;  // whether the character `ahead` places on is a digit
  bool Take(std::string_view token);     // a punctuation mark
  bool TakeWord(std::string_view word);  // not as the beginning of a longer word
  // "nn.conv2d"; "" where there is none.
  std::string_view TakeName(bool dots);
  // A sign, digits, point, exponent: what from_chars can read. "" where there is none.
  std::string_view TakeNumber();
  // Moves past the brace that closes the next opening one, or to the end of the text.
  void SkipBalanced();

  absl::Status Expect(std::string_view token, std::string_view where);
  absl::StatusOr<int64_t> ExpectInteger(std::string_view what);
  absl::StatusOr<std::string> ExpectString();

  absl::Status Error(std::string_view expected) { return ErrorAt(position_, expected); }
  absl::Status ErrorAt(size_t position, std::string_view expected);
  // "LINE:COLUMN: message", without what was found.
  absl::Status FailAt(size_t position, std::string_view message) const;

 private:
  std::string Found(size_t position) const;
  absl::StatusOr<char> Escape();

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_SCANNER_H_
