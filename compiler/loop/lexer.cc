#include "compiler/loop/lexer.h"

namespace hone::loop {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Lexer::Advance() {
  if (Peek() == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++position_;
}

void Lexer::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = Peek();
    if (c == '#') {
      while (position_ < text_.size() && Peek() != '\n') Advance();
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      Advance();
    } else {
      return;
    }
  }
}

Token Lexer::Next() {
  SkipBlanks();
  Token token;
  token.line = line_;
  token.column = column_;
  if (position_ >= text_.size()) return token;
  const char c = Peek();
  if (IsLetter(c)) {
    ReadWord(token);
  } else if (IsDigit(c)) {
    ReadNumber(token);
  } else if (c == '"') {
    ReadQuoted(token);
  } else {
    ReadSymbol(token);
  }
  return token;
}

void Lexer::ReadWord(Token& token) {
  token.kind = Token::Kind::kWord;
  while (IsLetter(Peek()) || IsDigit(Peek()) ||
         (Peek() == '.' && (IsLetter(Peek(1)) || IsDigit(Peek(1))))) {
    token.text += Peek();
    Advance();
  }
}

void Lexer::ReadNumber(Token& token) {
  token.kind = Token::Kind::kNumber;
  const auto take = [&] {
    token.text += Peek();
    Advance();
  };
  while (IsDigit(Peek())) take();
  if (Peek() == '.' && IsDigit(Peek(1))) {
    token.has_fraction = true;
    take();
    while (IsDigit(Peek())) take();
  }
  const bool sign = Peek(1) == '+' || Peek(1) == '-';
  if (Peek() == 'e' && IsDigit(Peek(sign ? 2 : 1))) {
    token.has_fraction = true;
    take();
    if (sign) take();
    while (IsDigit(Peek())) take();
  }
}

void Lexer::ReadQuoted(Token& token) {
  Advance();
  while (position_ < text_.size() && Peek() != '"') {
    if (Peek() == '\\') Advance();
    if (position_ >= text_.size()) break;
    token.text += Peek();
    Advance();
  }
  token.kind = position_ < text_.size() ? Token::Kind::kQuoted : Token::Kind::kBad;
  if (position_ < text_.size()) Advance();
}

void Lexer::ReadSymbol(Token& token) {
  static constexpr std::string_view kSymbols[] = {"..+", "..", "<=", ">=", "==", "!=", "{", "}",
                                                  "[",   "]",  "(",  ")",  ",",  ":",  "@", "%",
                                                  "=",   "+",  "-",  "*",  "/",  "<",  ">"};
  const std::string_view rest = text_.substr(position_);
  token.kind = Token::Kind::kBad;
  token.text = Peek();
  for (std::string_view symbol : kSymbols) {
    if (rest.substr(0, symbol.size()) != symbol) continue;
    token.kind = Token::Kind::kSymbol;
    token.text = symbol;
    break;
  }
  for (size_t i = 0; i < token.text.size(); ++i) Advance();
}

}  // namespace hone::loop
