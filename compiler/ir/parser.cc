#include "compiler/ir/parser.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <unordered_map>

#include "absl/strings/escaping.h"
#include "compiler/ir/attribute_parser.h"
#include "compiler/ir/literal.h"
#include "compiler/ir/scopes.h"
#include "support/status.h"

namespace hone::ir {
namespace {

// Names visible in one block.
struct Block {
  std::unordered_map<std::string, Expr> vars;
  std::unordered_map<int64_t, Expr> numbers;
};

class Parser : private AttributeParser {
 public:
  using AttributeParser::AttributeParser;

  absl::StatusOr<Module> ParseModule() {
    HONE_RETURN_IF_ERROR(Metadata());
    scan_.Seek(0);
    Module module;
    while (!scan_.AtEnd()) {
      const size_t start = scan_.position();
      if (scan_.TakeWord("meta")) {
        HONE_RETURN_IF_ERROR(SkipMetadataEntry());
        continue;
      }
      if (!scan_.TakeWord("def")) return scan_.Error("'def' or 'meta'");
      HONE_RETURN_IF_ERROR(scan_.Expect("@", "before the name of a function"));
      HONE_ASSIGN_OR_RETURN(std::string name, NameOrString("the name of a function"));
      HONE_ASSIGN_OR_RETURN(Expr function, FunctionRest(nullptr));
      if (!module.functions.emplace(name, function).second) {
        return scan_.FailAt(start, fmt::format("there are two functions @{}", name));
      }
    }
    for (const auto& [name, position] : globals_) {
      if (!module.functions.contains(name)) {
        return scan_.FailAt(position, fmt::format("there is no function @{}", name));
      }
    }
    return module;
  }

  absl::StatusOr<FunctionText> ParseFunctionText() {
    FunctionText result;
    if (!scan_.TakeWord("fn")) return scan_.Error("'fn'");
    HONE_ASSIGN_OR_RETURN(result.function, FunctionRest(&result.const_params));
    while (!scan_.AtEnd()) {
      const std::string word(scan_.TakeName(/*dots=*/false));
      if (word.empty()) return scan_.Error("a word");
      HONE_RETURN_IF_ERROR(scan_.Expect("=", "after a word"));
      const std::string value(scan_.TakeName(/*dots=*/false));
      if (value.empty()) return scan_.Error("a word");
      result.words[word] = value;
    }
    if (!globals_.empty()) {
      return scan_.FailAt(globals_[0].second, "a single function calls no global one");
    }
    return result;
  }

 private:
  // ---- constants of rank 1 and more ----

  absl::StatusOr<int64_t> MetadataIndex() {
    HONE_RETURN_IF_ERROR(scan_.Expect("[", "after 'meta'"));
    if (!scan_.TakeWord("Constant")) return scan_.Error("'Constant'");
    HONE_RETURN_IF_ERROR(scan_.Expect("]", "after 'Constant'"));
    HONE_RETURN_IF_ERROR(scan_.Expect("[", "before the number of a constant"));
    HONE_ASSIGN_OR_RETURN(int64_t index, scan_.ExpectInteger("the number of a constant"));
    HONE_RETURN_IF_ERROR(scan_.Expect("]", "after the number of a constant"));
    return index;
  }

  // Constants stand after the functions that mention them, so they are read first.
  absl::Status Metadata() {
    while (!scan_.AtEnd()) {
      const size_t start = scan_.position();
      if (!scan_.TakeWord("meta")) {
        scan_.SkipBalanced();
        continue;
      }
      HONE_ASSIGN_OR_RETURN(int64_t index, MetadataIndex());
      HONE_RETURN_IF_ERROR(scan_.Expect("=", "after the number of a constant"));
      HONE_ASSIGN_OR_RETURN(Type type, ParseType());
      if (!type.IsTensor()) return scan_.FailAt(start, "a constant is a tensor");
      if (scan_.Peek() == ';') {
        return scan_.Error("the constant's bytes (this text was printed without them)");
      }
      HONE_ASSIGN_OR_RETURN(Expr constant, ConstantBytes(type.tensor));
      HONE_RETURN_IF_ERROR(scan_.Expect(";", "after a constant"));
      if (!constants_.emplace(index, constant).second) {
        return scan_.FailAt(start, fmt::format("constant {} is given twice", index));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Expr> ConstantBytes(const TensorType& type) {
    const size_t start = scan_.position();
    HONE_ASSIGN_OR_RETURN(std::string encoded, scan_.ExpectString());
    auto bytes = std::make_shared<std::string>();
    if (!absl::Base64Unescape(encoded, bytes.get()))
      return scan_.FailAt(start, "this is no base64");
    if (bytes->size() != static_cast<size_t>(type.SizeBytes())) {
      return scan_.FailAt(start, fmt::format("expected the {} bytes of {}, found {}",
                                             type.SizeBytes(), type.ToString(), bytes->size()));
    }
    const auto* data = reinterpret_cast<const uint8_t*>(bytes->data());
    const size_t size = bytes->size();
    return Constant(type, {std::move(bytes), data, size});
  }

  absl::Status SkipMetadataEntry() {  // read, and found right, before
    HONE_RETURN_IF_ERROR(MetadataIndex().status());
    HONE_RETURN_IF_ERROR(scan_.Expect("=", "after the number of a constant"));
    HONE_RETURN_IF_ERROR(ParseType().status());
    HONE_RETURN_IF_ERROR(scan_.ExpectString().status());
    return scan_.Expect(";", "after a constant");
  }

  // ---- functions and blocks ----

  // After 'fn' or the function's name.
  absl::StatusOr<Expr> FunctionRest(std::vector<bool>* const_params) {
    HONE_RETURN_IF_ERROR(Enter());
    const size_t start = scan_.position();
    blocks_.emplace_back();
    absl::StatusOr<Expr> function = FunctionInside(const_params);
    blocks_.pop_back();
    --nesting_;
    // A numbered value belongs to the block that uses it, however flat the text was.
    if (nesting_ == 0 && function.ok() && Scopes(*function).Nesting() > kMaxNesting) {
      return scan_.FailAt(start, fmt::format("blocks that use one another are nested deeper than "
                                             "{} levels",
                                             kMaxNesting));
    }
    return function;
  }

  absl::StatusOr<Expr> FunctionInside(std::vector<bool>* const_params) {
    HONE_RETURN_IF_ERROR(scan_.Expect("(", "before parameters"));
    std::vector<Expr> params;
    Attrs attrs;
    while (!scan_.Take(")")) {
      HONE_RETURN_IF_ERROR(ParameterOrAttribute(&params, &attrs, const_params));
      if (!scan_.Take(",") && scan_.Peek() != ')') return scan_.Error("',' or ')' in parameters");
    }
    std::optional<Type> result;
    if (scan_.Take("->")) {
      HONE_ASSIGN_OR_RETURN(result, ParseType());
    }
    HONE_RETURN_IF_ERROR(scan_.Expect("{", "before the body of a function"));
    HONE_ASSIGN_OR_RETURN(Expr body, BlockRest());
    Expr function = Function(std::move(params), std::move(body), std::move(attrs));
    return result ? WithType(function, *result) : function;
  }

  absl::Status ParameterOrAttribute(std::vector<Expr>* params, Attrs* attrs,
                                    std::vector<bool>* const_params) {
    std::string name;
    const size_t start = (scan_.SkipSpace(), scan_.position());
    HONE_ASSIGN_OR_RETURN(const bool is_attribute, AttributeName(&name));
    if (is_attribute) return AttributeInto(attrs, name, start);
    const bool is_const = const_params != nullptr && scan_.TakeWord("const");
    scan_.Take("%");
    HONE_ASSIGN_OR_RETURN(name, NameOrString("a parameter"));
    HONE_RETURN_IF_ERROR(scan_.Expect(":", "after the name of a parameter"));
    HONE_ASSIGN_OR_RETURN(Type type, ParseType());
    params->push_back(Var(name, std::move(type)));
    if (const_params != nullptr) const_params->push_back(is_const);
    if (blocks_.back().vars.emplace(name, params->back()).second) return absl::OkStatus();
    return scan_.FailAt(start, fmt::format("there are two parameters %{}", name));
  }

  absl::StatusOr<Expr> NestedBlock() {
    blocks_.emplace_back();
    absl::StatusOr<Expr> block = BlockRest();
    blocks_.pop_back();
    return block;
  }

  // After '{': statements, lets, the result and '}'.
  absl::StatusOr<Expr> BlockRest() {
    std::vector<std::pair<Expr, Expr>> lets;
    while (true) {
      if (scan_.TakeWord("let")) {
        HONE_RETURN_IF_ERROR(LetStatement(&lets));
        continue;
      }
      HONE_ASSIGN_OR_RETURN(const bool found, NumberedStatement());
      if (!found) break;
    }
    HONE_ASSIGN_OR_RETURN(Expr result, Expression());
    HONE_RETURN_IF_ERROR(scan_.Expect("}", "after the result of a block"));
    for (size_t i = lets.size(); i-- > 0;) {
      result = Let(std::move(lets[i].first), std::move(lets[i].second), std::move(result));
    }
    return result;
  }

  absl::Status LetStatement(std::vector<std::pair<Expr, Expr>>* lets) {
    HONE_RETURN_IF_ERROR(scan_.Expect("%", "before the name of a variable"));
    HONE_ASSIGN_OR_RETURN(std::string name, NameOrString("the name of a variable"));
    HONE_RETURN_IF_ERROR(scan_.Expect(":", "and the type of the variable"));
    HONE_ASSIGN_OR_RETURN(Type type, ParseType());
    HONE_RETURN_IF_ERROR(scan_.Expect("=", "after the type of a variable"));
    HONE_ASSIGN_OR_RETURN(Expr value, Expression());
    HONE_RETURN_IF_ERROR(scan_.Expect(";", "after a let"));
    Expr var = Var(name, std::move(type));
    blocks_.back().vars[name] = var;
    lets->emplace_back(std::move(var), std::move(value));
    return absl::OkStatus();
  }

  absl::StatusOr<bool> NumberedStatement() {
    scan_.SkipSpace();
    const size_t start = scan_.position();
    if (!scan_.Take("%") || !scan_.AtDigit()) {
      scan_.Seek(start);
      return false;
    }
    const std::string_view digits = scan_.TakeNumber();
    if (digits.find('.') != std::string_view::npos || !scan_.Take("=")) {
      scan_.Seek(start);
      return false;
    }
    int64_t number = 0;
    const char* const end = digits.data() + digits.size();
    if (const auto read = std::from_chars(digits.data(), end, number);
        read.ec != std::errc() || read.ptr != end) {
      return scan_.ErrorAt(start, "a node's number, of 64 bits");
    }
    HONE_ASSIGN_OR_RETURN(Expr value, Expression());
    HONE_RETURN_IF_ERROR(scan_.Expect(";", "after a statement"));
    if (!blocks_.back().numbers.emplace(number, std::move(value)).second) {
      return scan_.FailAt(start, fmt::format("%{} is defined twice", number));
    }
    return true;
  }

  // ---- expressions ----

  absl::StatusOr<Expr> Expression() {
    HONE_RETURN_IF_ERROR(Enter());
    absl::StatusOr<Expr> expr = Postfix();
    --nesting_;
    return expr;
  }

  absl::StatusOr<Expr> Postfix() {
    const size_t start = (scan_.SkipSpace(), scan_.position());
    HONE_ASSIGN_OR_RETURN(Expr expr, Primary());
    while (true) {
      if (scan_.PeekNext() == '.' && scan_.AtDigit(1)) {
        HONE_ASSIGN_OR_RETURN(int64_t index, FieldIndex());
        expr = TupleGetItem(std::move(expr), index);
      } else if (scan_.Peek() == '(') {
        if (expr->kind == ExprKind::kConstant || expr->kind == ExprKind::kTuple) {
          return scan_.FailAt(start, "only a function or an operator can be called");
        }
        HONE_ASSIGN_OR_RETURN(auto operands, Operands());
        expr = CallFunction(std::move(expr), std::move(operands.first), std::move(operands.second));
      } else {
        return expr;
      }
    }
  }

  absl::StatusOr<int64_t> FieldIndex() {
    const size_t start = scan_.position();
    scan_.Take(".");
    int64_t index = 0;
    while (scan_.AtDigit()) {
      index = index * 10 + (scan_.PeekNext() - '0');
      if (index > 1'000'000) return scan_.FailAt(start, "no tuple has so many fields");
      scan_.Seek(scan_.position() + 1);
    }
    return index;
  }

  absl::StatusOr<Expr> Primary() {
    const char c = scan_.Peek();
    if (c == '%') return Reference();
    if (c == '@') return Global();
    if (c == '(') return TupleOrGroup();
    if (scan_.Take("{")) return NestedBlock();
    if (c == '-' || scan_.AtDigit()) return DecimalLiteral();
    return Word();
  }

  absl::StatusOr<Expr> Reference() {
    const size_t start = scan_.position();
    scan_.Take("%");
    if (!scan_.AtDigit()) {
      HONE_ASSIGN_OR_RETURN(std::string name, NameOrString("a variable or the number of a value"));
      return Variable(name, start);
    }
    int64_t number = 0;
    while (scan_.AtDigit()) {
      number = number * 10 + (scan_.PeekNext() - '0');
      if (number > int64_t{1} << 40) break;
      scan_.Seek(scan_.position() + 1);
    }
    for (size_t i = blocks_.size(); i-- > 0;) {
      const auto it = blocks_[i].numbers.find(number);
      if (it != blocks_[i].numbers.end()) return it->second;
    }
    return scan_.FailAt(start, fmt::format("%{} is not defined before its use", number));
  }

  absl::StatusOr<Expr> Variable(const std::string& name, size_t start) {
    for (size_t i = blocks_.size(); i-- > 0;) {
      const auto it = blocks_[i].vars.find(name);
      if (it != blocks_[i].vars.end()) return it->second;
    }
    return scan_.FailAt(start, fmt::format("there is no variable %{} here", name));
  }

  absl::StatusOr<Expr> Global() {
    const size_t start = scan_.position();
    scan_.Take("@");
    HONE_ASSIGN_OR_RETURN(std::string name, NameOrString("the name of a function"));
    globals_.emplace_back(name, start);
    return GlobalVar(std::move(name));
  }

  absl::StatusOr<Expr> TupleOrGroup() {
    scan_.Take("(");
    std::vector<Expr> fields;
    bool comma = false;
    while (!scan_.Take(")")) {
      HONE_ASSIGN_OR_RETURN(Expr field, Expression());
      fields.push_back(std::move(field));
      comma = scan_.Take(",");
      if (!comma && scan_.Peek() != ')') return scan_.Error("',' or ')' in a tuple");
    }
    if (fields.size() == 1 && !comma) return fields[0];
    return Tuple(std::move(fields));
  }

  absl::StatusOr<Expr> DecimalLiteral() {
    const size_t start = scan_.position();
    const std::string_view digits = scan_.TakeNumber();
    const std::string_view suffix =
        std::isalpha(static_cast<unsigned char>(scan_.PeekNext())) ? scan_.TakeName(false) : "";
    Expr literal = LiteralFromDecimal(digits, suffix);
    if (literal) return literal;
    return scan_.ErrorAt(start, "a number in range with its type, such as 1.5f32 or -2i64");
  }

  absl::StatusOr<Expr> BitsLiteral(DataType dtype, size_t start) {
    HONE_RETURN_IF_ERROR(scan_.Expect("(0x", "before the bits of a number"));
    uint64_t bits = 0;
    int digits = 0;
    for (; std::isxdigit(static_cast<unsigned char>(scan_.PeekNext())); ++digits) {
      const char c = scan_.PeekNext();
      bits = bits * 16 + static_cast<uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
      scan_.Seek(scan_.position() + 1);
    }
    HONE_RETURN_IF_ERROR(scan_.Expect(")", "after the bits of a number"));
    Expr literal = digits >= 1 && digits <= 16 ? LiteralFromBits(dtype, bits) : nullptr;
    if (literal) return literal;
    return scan_.FailAt(start, fmt::format("these are not the bits of a {}", Name(dtype)));
  }

  absl::StatusOr<Expr> Word() {
    const size_t start = scan_.position();
    const std::string word(scan_.TakeName(/*dots=*/true));
    if (word.empty()) return scan_.Error("an expression");
    if (word == "true" || word == "false") return BoolLiteral(word == "true");
    if (word == "fn") return FunctionRest(nullptr);
    if (word == "if") return IfRest();
    if (word == "meta") return MetadataConstant(start);
    if (scan_.Peek() != '(') return Variable(word, start);
    if (const auto dtype = ParseDataType(word)) return BitsLiteral(*dtype, start);
    HONE_ASSIGN_OR_RETURN(auto operands, Operands());
    return Call(word, std::move(operands.first), std::move(operands.second));
  }

  absl::StatusOr<Expr> MetadataConstant(size_t start) {
    HONE_ASSIGN_OR_RETURN(int64_t index, MetadataIndex());
    const auto it = constants_.find(index);
    if (it != constants_.end()) return it->second;
    return scan_.FailAt(start, fmt::format("there is no 'meta[Constant][{}] = ...;' entry", index));
  }

  absl::StatusOr<Expr> IfRest() {
    HONE_RETURN_IF_ERROR(scan_.Expect("(", "before a condition"));
    HONE_ASSIGN_OR_RETURN(Expr condition, Expression());
    HONE_RETURN_IF_ERROR(scan_.Expect(")", "after a condition"));
    HONE_RETURN_IF_ERROR(scan_.Expect("{", "after a condition"));
    HONE_ASSIGN_OR_RETURN(Expr then, NestedBlock());
    if (!scan_.TakeWord("else")) return scan_.Error("'else'");
    HONE_RETURN_IF_ERROR(scan_.Expect("{", "after 'else'"));
    HONE_ASSIGN_OR_RETURN(Expr otherwise, NestedBlock());
    return If(std::move(condition), std::move(then), std::move(otherwise));
  }

  absl::StatusOr<std::pair<std::vector<Expr>, Attrs>> Operands() {
    std::pair<std::vector<Expr>, Attrs> operands;
    HONE_RETURN_IF_ERROR(scan_.Expect("(", "before operands"));
    while (!scan_.Take(")")) {
      std::string name;
      const size_t start = (scan_.SkipSpace(), scan_.position());
      HONE_ASSIGN_OR_RETURN(const bool is_attribute, AttributeName(&name));
      if (is_attribute) {
        HONE_RETURN_IF_ERROR(AttributeInto(&operands.second, name, start));
      } else {
        HONE_ASSIGN_OR_RETURN(Expr operand, Expression());
        operands.first.push_back(std::move(operand));
      }
      if (!scan_.Take(",") && scan_.Peek() != ')') return scan_.Error("',' or ')' in operands");
    }
    return operands;
  }

  std::vector<Block> blocks_;
  std::map<int64_t, Expr> constants_;
  std::vector<std::pair<std::string, size_t>> globals_;
};

}  // namespace

absl::StatusOr<Module> ParseModule(std::string_view text) { return Parser(text).ParseModule(); }

absl::StatusOr<FunctionText> ParseFunctionText(std::string_view text) {
  return Parser(text).ParseFunctionText();
}

}  // namespace hone::ir
