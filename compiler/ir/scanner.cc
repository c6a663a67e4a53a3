#include "compiler/ir/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "support/status.h"

namespace hone::ir {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

void Scanner::SkipSpace() {
  while (position_ < text_.size()) {
    if (IsSpace(text_[position_])) {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

bool Scanner::AtEnd() {
  SkipSpace();
  return position_ == text_.size();
}

char Scanner::Peek() { return AtEnd() ? '\0' : text_[position_]; }
char Scanner::PeekNext() const { return position_ < text_.size() ? text_[position_] : '\0'; }

bool Scanner::AtDigit(size_t ahead) const {
  return position_ + ahead < text_.size() && IsDigit(text_[position_ + ahead]);
}

bool Scanner::Take(std::string_view token) {
  SkipSpace();
  if (text_.substr(position_, token.size()) != token) return false;
  position_ += token.size();
  return true;
}

bool Scanner::TakeWord(std::string_view word) {
  SkipSpace();
  const size_t start = position_;
  if (TakeName(/*dots=*/true) == word) return true;
  position_ = start;
  return false;
}

std::string_view Scanner::TakeName(bool dots) {
  SkipSpace();
  const size_t start = position_;
  if (position_ == text_.size() || !IsLetter(text_[position_])) return {};
  while (position_ < text_.size()) {
    const char c = text_[position_];
    const bool dot =
        dots && c == '.' && position_ + 1 < text_.size() && IsLetter(text_[position_ + 1]);
    if (!IsLetter(c) && !IsDigit(c) && !dot) break;
    ++position_;
  }
  return text_.substr(start, position_ - start);
}

std::string_view Scanner::TakeNumber() {
  SkipSpace();
  const size_t start = position_;
  size_t at = start;
  const auto digits = [&] {
    const size_t first = at;
    while (at < text_.size() && IsDigit(text_[at])) ++at;
    return at > first;
  };
  if (at < text_.size() && text_[at] == '-') ++at;
  if (!digits()) return {};
  if (at + 1 < text_.size() && text_[at] == '.' && IsDigit(text_[at + 1])) {
    ++at;
    digits();
  }
  if (at < text_.size() && (text_[at] == 'e' || text_[at] == 'E')) {
    const size_t before = at++;
    if (at < text_.size() && (text_[at] == '-' || text_[at] == '+')) ++at;
    if (!digits()) at = before;
  }
  position_ = at;
  return text_.substr(start, at - start);
}

void Scanner::SkipBalanced() {
  int depth = 0;
  for (; position_ < text_.size(); ++position_) {
    SkipSpace();
    const char c = PeekNext();
    if (c == '"') {
      for (++position_; position_ < text_.size() && text_[position_] != '"'; ++position_) {
        if (text_[position_] == '\\') ++position_;
      }
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth <= 0) {
      ++position_;
      return;
    }
  }
  position_ = text_.size();
}

absl::Status Scanner::Expect(std::string_view token, std::string_view where) {
  if (Take(token)) return absl::OkStatus();
  return Error(fmt::format("'{}' {}", token, where));
}

absl::StatusOr<int64_t> Scanner::ExpectInteger(std::string_view what) {
  SkipSpace();
  const size_t start = position_;
  const std::string_view digits = TakeNumber();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return ErrorAt(start, what);
  }
  return value;
}

absl::StatusOr<char> Scanner::Escape() {
  const size_t start = position_;
  const char c = PeekNext();
  ++position_;
  if (c == '"' || c == '\\') return c;
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  int value = 0;
  const std::string_view digits = text_.substr(std::min(position_, text_.size()), 2);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (c != 'x' || digits.size() != 2 || error != std::errc() || end != digits.data() + 2) {
    return ErrorAt(std::min(start, text_.size()), "an escape: \\\" \\\\ \\n \\t or \\xHH");
  }
  position_ += 2;
  return static_cast<char>(value);
}

absl::StatusOr<std::string> Scanner::ExpectString() {
  SkipSpace();
  const size_t start = position_;
  if (!Take("\"")) return Error("a string in double quotes");
  std::string value;
  while (position_ < text_.size() && text_[position_] != '"') {
    char c = text_[position_++];
    if (c == '\\') {
      HONE_ASSIGN_OR_RETURN(c, Escape());
    }
    value.push_back(c);
  }
  if (position_ == text_.size()) return FailAt(start, "this string has no closing quote");
  ++position_;
  return value;
}

std::string Scanner::Found(size_t position) const {
  if (position >= text_.size()) return "the end of the text";
  size_t end = position + 1;
  if (IsLetter(text_[position]) || IsDigit(text_[position])) {
    while (end < text_.size() && end < position + 40 &&
           (IsLetter(text_[end]) || IsDigit(text_[end]))) {
      ++end;
    }
  }
  const std::string_view token = text_.substr(position, end - position);
  const auto byte = static_cast<unsigned char>(token[0]);
  if (byte < 0x20 || byte >= 0x7f) return fmt::format("byte 0x{:02x}", byte);
  return fmt::format("'{}'", token);
}

absl::Status Scanner::ErrorAt(size_t position, std::string_view expected) {
  if (position == position_) {
    SkipSpace();
    position = position_;
  }
  return FailAt(position, fmt::format("expected {}, found {}", expected, Found(position)));
}

absl::Status Scanner::FailAt(size_t position, std::string_view message) const {
  const std::string_view before = text_.substr(0, position);
  const size_t line_start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  return absl::InvalidArgumentError(
      fmt::format("{}:{}: {}", line, position - line_start + 1, message));
}

}  // namespace hone::ir
