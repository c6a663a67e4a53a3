// Tokens of the text form of nests. Part of the parser.
#ifndef HONE_COMPILER_LOOP_LEXER_H_
#define HONE_COMPILER_LOOP_LEXER_H_

#include <string>
#include <string_view>

namespace hone::loop {

struct Token {
  enum class Kind {
    kEnd,
    kWord,    // conv.i0, for, float32; `text` is the word
    kQuoted,  // "any name"; `text` is what the quotes hold
    kNumber,  // digits, with a fraction or an exponent perhaps; no sign
    kSymbol,  // { } [ ] ( ) , : @ % = .. + - * / < <= > >= == != ..+
    kBad
  };
  Kind kind = Kind::kEnd;
  std::string text;
  bool has_fraction = false;  // of kNumber: a '.' or an exponent
  int line = 1;
  int column = 1;
};

// Not thread-safe; views the text.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  // The next token. At the end of the text it is kEnd, however often it is called.
  Token Next();

 private:
  char Peek(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  void Advance();
  void SkipBlanks();
  void ReadWord(Token& token);
  void ReadNumber(Token& token);
  void ReadQuoted(Token& token);
  void ReadSymbol(Token& token);

  std::string_view text_;
  size_t position_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_LEXER_H_
