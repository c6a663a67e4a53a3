#include "compiler/loop/parser.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "compiler/loop/lexer.h"
#include "compiler/loop/scalar.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::loop {
namespace {

using Kind = Token::Kind;

// How deeply statements may nest, and parentheses in expressions.
constexpr int kMaxDepth = 200;
constexpr int64_t kMostPending = 64;
// How many operators a statement may have: "a + b + c ..." makes a tree as deep as it is long.
constexpr int kMaxOperators = 4000;

struct Operator {
  BinaryOp op;
  int level;
};

std::optional<Operator> InfixOperator(const Token& token) {
  static const auto* operators = new std::map<std::string, Operator, std::less<>>{
      {"or", {BinaryOp::kOr, 1}}, {"and", {BinaryOp::kAnd, 2}}, {"==", {BinaryOp::kEq, 3}},
      {"!=", {BinaryOp::kNe, 3}}, {"<", {BinaryOp::kLt, 3}},    {"<=", {BinaryOp::kLe, 3}},
      {">", {BinaryOp::kGt, 3}},  {">=", {BinaryOp::kGe, 3}},   {"+", {BinaryOp::kAdd, 4}},
      {"-", {BinaryOp::kSub, 4}}, {"*", {BinaryOp::kMul, 5}},   {"/", {BinaryOp::kDiv, 5}}};
  if (token.kind != Kind::kSymbol && token.kind != Kind::kWord) return std::nullopt;
  const auto it = operators->find(token.text);
  return it == operators->end() ? std::nullopt : std::optional(it->second);
}

std::optional<UnaryOp> UnaryNamed(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(UnaryOp::kSign); ++i) {
    if (Name(static_cast<UnaryOp>(i)) == name) return static_cast<UnaryOp>(i);
  }
  return std::nullopt;
}

std::optional<BinaryOp> CallNamed(std::string_view name) {
  for (BinaryOp op : {BinaryOp::kFloorDiv, BinaryOp::kFloorMod, BinaryOp::kMin, BinaryOp::kMax,
                      BinaryOp::kPow, BinaryOp::kMod, BinaryOp::kXor, BinaryOp::kShiftLeft,
                      BinaryOp::kShiftRight, BinaryOp::kBitAnd, BinaryOp::kBitOr}) {
    if (Name(op) == name) return op;
  }
  return std::nullopt;
}

std::optional<LoopKind> LoopNamed(std::string_view word) {
  if (word == "for") return LoopKind::kSerial;
  if (word == "parallel") return LoopKind::kParallel;
  if (word == "thread") return LoopKind::kThread;
  if (word == "vectorize") return LoopKind::kVectorize;
  if (word == "unroll") return LoopKind::kUnroll;
  if (word == "dot") return LoopKind::kDot;
  if (word == "tile") return LoopKind::kTile;
  return std::nullopt;
}

std::optional<Scope> ScopeNamed(std::string_view word) {
  if (word == "register") return Scope::kRegister;
  if (word == "local") return Scope::kLocal;
  if (word == "shared") return Scope::kShared;
  if (word == "tile") return Scope::kTile;
  return std::nullopt;
}

std::optional<Role> RoleNamed(std::string_view word) {
  if (word == "input") return Role::kInput;
  if (word == "constant") return Role::kConstant;
  if (word == "prepared") return Role::kPrepared;
  if (word == "workspace") return Role::kWorkspace;
  if (word == "output") return Role::kOutput;
  return std::nullopt;
}

std::string Describe(const Token& token) {
  if (token.kind == Kind::kEnd) return "the end of the text";
  return "'" + token.text + "'";
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { Advance(); }

  absl::StatusOr<Nest> ParseNest() {
    HONE_RETURN_IF_ERROR(ExpectWord("nest"));
    Nest nest;
    HONE_ASSIGN_OR_RETURN(nest.name, LaunchName());
    HONE_RETURN_IF_ERROR(Expect("{"));
    while (const auto role = token_.kind == Kind::kWord ? RoleNamed(token_.text) : std::nullopt) {
      Advance();
      HONE_ASSIGN_OR_RETURN(Buffer buffer, Declaration(Scope::kGlobal, *role));
      nest.buffers.push_back(std::move(buffer));
    }
    while (!IsSymbol("}")) {
      HONE_ASSIGN_OR_RETURN(Launch launch, ParseLaunch());
      nest.launches.push_back(std::move(launch));
    }
    Advance();
    if (token_.kind != Kind::kEnd) return Expected("the end of the text");
    return nest;
  }

 private:
  void Advance() { token_ = lexer_.Next(); }
  bool IsSymbol(std::string_view text) const {
    return token_.kind == Kind::kSymbol && token_.text == text;
  }
  bool IsWord(std::string_view text) const {
    return token_.kind == Kind::kWord && token_.text == text;
  }

  absl::Status ErrorAt(const Token& token, const std::string& message) const {
    return absl::InvalidArgumentError(fmt::format("{}:{}: {}", token.line, token.column, message));
  }
  absl::Status Expected(std::string_view what) const {
    return ErrorAt(token_, fmt::format("expected {}, found {}", what, Describe(token_)));
  }
  absl::Status Expect(std::string_view symbol) {
    if (!IsSymbol(symbol)) return Expected(fmt::format("'{}'", symbol));
    Advance();
    return absl::OkStatus();
  }
  absl::Status ExpectWord(std::string_view word) {
    if (!IsWord(word)) return Expected(fmt::format("'{}'", word));
    Advance();
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> AnyName() {
    if (token_.kind != Kind::kWord && token_.kind != Kind::kQuoted) return Expected("a name");
    std::string name = token_.text;
    Advance();
    return name;
  }
  absl::StatusOr<std::string> LaunchName() {
    HONE_RETURN_IF_ERROR(Expect("@"));
    return AnyName();
  }

  absl::StatusOr<int64_t> Integer() {
    const bool negative = IsSymbol("-");
    if (negative) Advance();
    if (token_.kind != Kind::kNumber || token_.has_fraction) return Expected("an integer");
    const std::string digits = (negative ? "-" : "") + token_.text;
    int64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc()) return Expected("an integer of 64 bits");
    Advance();
    return value;
  }

  absl::StatusOr<double> Real() {
    const bool negative = IsSymbol("-");
    if (negative) Advance();
    double value = 0;
    if (IsWord("inf")) {
      value = std::numeric_limits<double>::infinity();
    } else if (IsWord("nan")) {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (token_.kind == Kind::kNumber) {
      std::from_chars(token_.text.data(), token_.text.data() + token_.text.size(), value);
    } else {
      return Expected("a number");
    }
    Advance();
    return negative ? -value : value;
  }

  absl::StatusOr<DataType> Type() {
    const auto type = token_.kind == Kind::kWord ? ParseDataType(token_.text) : std::nullopt;
    if (!type) return Expected("an element type");
    Advance();
    return *type;
  }

  // %NAME: TYPE[EXTENT, ...] LAYOUT [domain [ascending] [LOW, HIGH]]
  absl::StatusOr<Buffer> Declaration(Scope scope, Role role) {
    auto buffer = std::make_shared<BufferNode>();
    const Token start = token_;
    HONE_RETURN_IF_ERROR(Expect("%"));
    HONE_ASSIGN_OR_RETURN(buffer->name, AnyName());
    HONE_RETURN_IF_ERROR(Expect(":"));
    HONE_ASSIGN_OR_RETURN(buffer->dtype, Type());
    HONE_RETURN_IF_ERROR(Expect("["));
    while (!IsSymbol("]")) {
      if (!buffer->shape.empty()) HONE_RETURN_IF_ERROR(Expect(","));
      HONE_ASSIGN_OR_RETURN(const int64_t extent, Integer());
      if (extent < 0) return ErrorAt(start, "expected extents that are not negative");
      buffer->shape.push_back(extent);
    }
    Advance();
    HONE_RETURN_IF_ERROR(LayoutOf(*buffer));
    if (IsWord("domain")) HONE_RETURN_IF_ERROR(DomainOf(*buffer));
    buffer->scope = scope;
    buffer->role = role;
    Buffer result = std::move(buffer);
    if (!buffers_.emplace(result->name, result).second) {
      return ErrorAt(start, fmt::format("buffer %{} is declared already", result->name));
    }
    return result;
  }

  absl::Status LayoutOf(BufferNode& buffer) {
    const int rank = static_cast<int>(buffer.shape.size());
    if (rank == 0) return absl::OkStatus();
    const auto layout =
        token_.kind == Kind::kWord ? Layout::Parse(token_.text, rank) : std::nullopt;
    if (!layout) return Expected(fmt::format("a layout of {} axes", rank));
    buffer.layout = *layout;
    Advance();
    return absl::OkStatus();
  }

  absl::Status DomainOf(BufferNode& buffer) {
    Advance();
    buffer.ascending = IsWord("ascending");
    if (buffer.ascending) Advance();
    HONE_RETURN_IF_ERROR(Expect("["));
    HONE_ASSIGN_OR_RETURN(buffer.domain_low, Real());
    HONE_RETURN_IF_ERROR(Expect(","));
    HONE_ASSIGN_OR_RETURN(buffer.domain_high, Real());
    return Expect("]");
  }

  absl::StatusOr<Launch> ParseLaunch() {
    Launch launch;
    if (IsWord("prepare")) {
      launch.phase = Phase::kPrepare;
    } else if (!IsWord("run")) {
      return Expected("'prepare', 'run' or '}'");
    }
    Advance();
    HONE_ASSIGN_OR_RETURN(launch.name, LaunchName());
    HONE_ASSIGN_OR_RETURN(launch.body, Block());
    return launch;
  }

  absl::StatusOr<Stmt> Block() {
    HONE_RETURN_IF_ERROR(Expect("{"));
    if (++depth_ > kMaxDepth) return ErrorAt(token_, "statements are nested too deeply");
    std::vector<Stmt> stmts;
    while (!IsSymbol("}")) {
      HONE_ASSIGN_OR_RETURN(Stmt stmt, Statement());
      stmts.push_back(std::move(stmt));
    }
    --depth_;
    Advance();
    return Seq(std::move(stmts));
  }

  absl::StatusOr<Stmt> Statement() {
    operators_ = 0;
    if (IsSymbol("%")) return ParseStore();
    if (token_.kind != Kind::kWord) return Expected("a statement");
    if (const auto kind = LoopNamed(token_.text)) return ParseLoop(*kind);
    if (IsWord("if")) return ParseIf();
    if (IsWord("while")) {
      Advance();
      HONE_ASSIGN_OR_RETURN(Expr condition, Condition());
      HONE_ASSIGN_OR_RETURN(Stmt body, Block());
      return While(std::move(condition), std::move(body));
    }
    if (IsWord("alloc")) return ParseAlloc();
    if (IsWord("barrier")) {
      Advance();
      int64_t pending = 0;
      if (IsWord("pending")) {
        Advance();
        HONE_ASSIGN_OR_RETURN(pending, Integer());
        if (pending < 1 || pending > kMostPending) return Expected("1 to 64 groups before");
      }
      return Barrier(static_cast<int>(pending));
    }
    if (IsWord("commit")) {
      Advance();
      return Commit();
    }
    if (IsWord("prefetch")) return ParsePrefetch();
    return Expected("a statement");
  }

  absl::StatusOr<Stmt> ParseStore() {
    Buffer buffer;
    HONE_ASSIGN_OR_RETURN(std::vector<Expr> indices, Element(buffer));
    HONE_RETURN_IF_ERROR(Expect("="));
    const Token start = token_;
    HONE_ASSIGN_OR_RETURN(Expr value, Expression());
    if (value->dtype != buffer->dtype) {
      return ErrorAt(start, fmt::format("expected a value of type {} for %{}, found {}",
                                        Name(buffer->dtype), buffer->name, Name(value->dtype)));
    }
    return Store(std::move(buffer), std::move(indices), std::move(value));
  }

  absl::StatusOr<Stmt> ParseLoop(LoopKind kind) {
    Advance();
    HONE_ASSIGN_OR_RETURN(std::string name, AnyName());
    DataType dtype = DataType::kInt64;
    if (IsSymbol(":")) {
      Advance();
      HONE_ASSIGN_OR_RETURN(dtype, Type());
    }
    HONE_RETURN_IF_ERROR(ExpectWord("in"));
    const Token start = token_;
    HONE_ASSIGN_OR_RETURN(Expr min, Expression());
    const bool counted = IsSymbol("..+");
    if (!counted && !IsSymbol("..")) return Expected("'..' or '..+'");
    Advance();
    HONE_ASSIGN_OR_RETURN(Expr extent, Expression());
    if (IsFloat(dtype) || min->dtype != dtype || extent->dtype != dtype) {
      return ErrorAt(start,
                     fmt::format("expected bounds of the type of {}, {}", name, Name(dtype)));
    }
    if (!counted) extent = extent - min;
    const Expr var = Var(name, dtype);
    const Expr hidden = std::exchange(vars_[name], var);
    HONE_ASSIGN_OR_RETURN(Stmt body, Block());
    if (hidden) {
      vars_[name] = hidden;
    } else {
      vars_.erase(name);
    }
    return For(var, std::move(min), std::move(extent), std::move(body), kind);
  }

  absl::StatusOr<Stmt> ParseIf() {
    Advance();
    HONE_ASSIGN_OR_RETURN(Expr condition, Condition());
    HONE_ASSIGN_OR_RETURN(Stmt then, Block());
    Stmt otherwise;
    if (IsWord("else")) {
      Advance();
      HONE_ASSIGN_OR_RETURN(otherwise, Block());
    }
    return If(std::move(condition), std::move(then), std::move(otherwise));
  }

  absl::StatusOr<Stmt> ParseAlloc() {
    Advance();
    const std::optional<Scope> scope = ScopeNamed(token_.text);
    if (token_.kind != Kind::kWord || !scope) return Expected("'register', 'local' or 'tile'");
    Advance();
    HONE_ASSIGN_OR_RETURN(Buffer buffer, Declaration(*scope, Role::kWorkspace));
    HONE_ASSIGN_OR_RETURN(Stmt body, Block());
    buffers_.erase(buffer->name);
    return Alloc(std::move(buffer), std::move(body));
  }

  absl::StatusOr<Stmt> ParsePrefetch() {
    Advance();
    Buffer buffer;
    HONE_ASSIGN_OR_RETURN(std::vector<Expr> indices, Element(buffer));
    HONE_RETURN_IF_ERROR(ExpectWord("locality"));
    HONE_ASSIGN_OR_RETURN(const int64_t locality, Integer());
    if (locality < 0 || locality > 3) return Expected("a locality from 0 to 3 before");
    return Prefetch(std::move(buffer), std::move(indices), static_cast<int>(locality));
  }

  // ---- expressions ----

  absl::StatusOr<Expr> Condition() {
    const Token start = token_;
    HONE_ASSIGN_OR_RETURN(Expr condition, Expression());
    if (condition->dtype != DataType::kBool) {
      return ErrorAt(start, fmt::format("expected a condition, found a value of type {}",
                                        Name(condition->dtype)));
    }
    return condition;
  }

  absl::StatusOr<Expr> Expression() { return Infix(1); }

  // Operators that bind at least as strongly as `level`.
  absl::StatusOr<Expr> Infix(int level) {
    HONE_ASSIGN_OR_RETURN(Expr left, Atom());
    while (true) {
      const auto infix = InfixOperator(token_);
      if (!infix || infix->level < level) return left;
      const Token at = token_;
      if (++operators_ > kMaxOperators) return ErrorAt(at, "the statement has too many operators");
      Advance();
      HONE_ASSIGN_OR_RETURN(Expr right, Infix(infix->level + 1));
      HONE_RETURN_IF_ERROR(CheckOperands(at, infix->op, left, right));
      left = Binary(infix->op, std::move(left), std::move(right));
    }
  }

  absl::Status CheckOperands(const Token& at, BinaryOp op, const Expr& a, const Expr& b) const {
    if (a->dtype == b->dtype) return absl::OkStatus();
    return ErrorAt(at, fmt::format("the operands of {} have different types, {} and {}", Name(op),
                                   Name(a->dtype), Name(b->dtype)));
  }

  absl::StatusOr<Expr> Atom() {
    if (++depth_ > kMaxDepth) return ErrorAt(token_, "the expression is nested too deeply");
    absl::StatusOr<Expr> atom = AtomInner();
    --depth_;
    return atom;
  }

  absl::StatusOr<Expr> AtomInner() {
    if (IsSymbol("(")) {
      Advance();
      HONE_ASSIGN_OR_RETURN(Expr inner, Expression());
      HONE_RETURN_IF_ERROR(Expect(")"));
      return inner;
    }
    if (IsSymbol("%")) {
      Buffer buffer;
      HONE_ASSIGN_OR_RETURN(std::vector<Expr> indices, Element(buffer));
      return Load(std::move(buffer), std::move(indices));
    }
    if (IsSymbol("-") || token_.kind == Kind::kNumber) return Literal();
    if (token_.kind == Kind::kQuoted) return Variable();
    if (token_.kind != Kind::kWord) return Expected("an expression");
    if (IsWord("true") || IsWord("false")) {
      const bool value = IsWord("true");
      Advance();
      return BoolConst(value);
    }
    return IsFunction(token_.text) ? Call() : Variable();
  }

  static bool IsFunction(std::string_view name) {
    return name == "select" || name == "cast" || ParseDataType(name) || UnaryNamed(name) ||
           CallNamed(name);
  }

  // Without a type: int64, or float32 where there is a fraction.
  absl::StatusOr<Expr> Literal() {
    const Token start = token_;
    const bool negative = IsSymbol("-");
    if (negative) Advance();
    if (token_.kind != Kind::kNumber) return Expected("a number");
    if (token_.has_fraction) {
      float value = 0;  // straight to float: by way of double it could be rounded twice
      std::from_chars(token_.text.data(), token_.text.data() + token_.text.size(), value);
      Advance();
      return FloatConst(negative ? -value : value, DataType::kFloat32);
    }
    const std::string digits = (negative ? "-" : "") + token_.text;
    int64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc()) return ErrorAt(start, "expected an integer of 64 bits");
    Advance();
    return IntConst(value);
  }

  absl::StatusOr<Expr> Variable() {
    const auto it = vars_.find(token_.text);
    if (it == vars_.end()) {
      return ErrorAt(token_, fmt::format("no loop around binds {}", token_.text));
    }
    Advance();
    return it->second;
  }

  absl::StatusOr<Expr> Call() {
    const Token name = token_;
    Advance();
    if (const auto type = ParseDataType(name.text)) return TypedLiteral(*type);
    if (name.text == "cast") return ParseCast();
    const auto unary = UnaryNamed(name.text);
    const auto binary = CallNamed(name.text);
    if (!unary && !binary && name.text != "select") {
      return ErrorAt(
          name, fmt::format("no loop around binds {}, and no function has that name", name.text));
    }
    const size_t count = unary ? 1 : binary ? 2 : 3;
    HONE_ASSIGN_OR_RETURN(std::vector<Expr> args, Arguments(name, count));
    if (unary) return Unary(*unary, args[0]);
    if (binary) {
      HONE_RETURN_IF_ERROR(CheckOperands(name, *binary, args[0], args[1]));
      return Binary(*binary, args[0], args[1]);
    }
    if (args[0]->dtype != DataType::kBool || args[1]->dtype != args[2]->dtype) {
      return ErrorAt(name, "select expects a condition and two values of one type");
    }
    return Select(args[0], args[1], args[2]);
  }

  absl::StatusOr<std::vector<Expr>> Arguments(const Token& name, size_t count) {
    HONE_RETURN_IF_ERROR(Expect("("));
    std::vector<Expr> args;
    while (!IsSymbol(")")) {
      if (!args.empty()) HONE_RETURN_IF_ERROR(Expect(","));
      HONE_ASSIGN_OR_RETURN(Expr arg, Expression());
      args.push_back(std::move(arg));
    }
    Advance();
    if (args.size() != count) {
      return ErrorAt(name,
                     fmt::format("{} takes {} operands, found {}", name.text, count, args.size()));
    }
    return args;
  }

  absl::StatusOr<Expr> TypedLiteral(DataType type) {
    HONE_RETURN_IF_ERROR(Expect("("));
    Expr value;
    if (IsFloat(type)) {
      HONE_ASSIGN_OR_RETURN(const double number, Real());
      value = FloatConst(number, type);
    } else {
      HONE_ASSIGN_OR_RETURN(const int64_t number, Integer());
      value = IntConst(number, type);
    }
    HONE_RETURN_IF_ERROR(Expect(")"));
    return value;
  }

  absl::StatusOr<Expr> ParseCast() {
    HONE_RETURN_IF_ERROR(Expect("<"));
    HONE_ASSIGN_OR_RETURN(const DataType type, Type());
    HONE_RETURN_IF_ERROR(Expect(">"));
    HONE_RETURN_IF_ERROR(Expect("("));
    HONE_ASSIGN_OR_RETURN(Expr value, Expression());
    HONE_RETURN_IF_ERROR(Expect(")"));
    return Cast(type, std::move(value));
  }

  // %NAME[INDEX, ...]
  absl::StatusOr<std::vector<Expr>> Element(Buffer& buffer) {
    HONE_RETURN_IF_ERROR(Expect("%"));
    const Token at = token_;
    HONE_ASSIGN_OR_RETURN(const std::string name, AnyName());
    const auto it = buffers_.find(name);
    if (it == buffers_.end()) {
      return ErrorAt(at, fmt::format("buffer %{} is not declared", name));
    }
    buffer = it->second;
    HONE_RETURN_IF_ERROR(Expect("["));
    std::vector<Expr> indices;
    while (!IsSymbol("]")) {
      if (!indices.empty()) HONE_RETURN_IF_ERROR(Expect(","));
      const Token start = token_;
      HONE_ASSIGN_OR_RETURN(Expr index, Expression());
      if (IsFloat(index->dtype)) return ErrorAt(start, "expected an index, found a float");
      indices.push_back(std::move(index));
    }
    Advance();
    if (indices.size() != buffer->shape.size()) {
      return ErrorAt(at, fmt::format("%{} has {} dimensions, found {} indices", name,
                                     buffer->shape.size(), indices.size()));
    }
    return indices;
  }

  Lexer lexer_;
  Token token_;
  int depth_ = 0;
  int operators_ = 0;
  std::map<std::string, Expr, std::less<>> vars_;
  std::map<std::string, Buffer, std::less<>> buffers_;
};

}  // namespace

absl::StatusOr<Nest> ParseNest(std::string_view text) { return Parser(text).ParseNest(); }

}  // namespace hone::loop
