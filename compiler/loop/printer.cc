// The text form of nests; docs/loop-nests.md has the grammar. Prints straight into one string: a
// digest is taken of every candidate of a search.
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {
namespace {

// Binding strength of an expression; an operand that binds more loosely gets parentheses.
enum Precedence { kOrLevel = 1, kAndLevel, kCompareLevel, kAddLevel, kMulLevel, kAtomLevel };

int PrecedenceOf(const ExprNode& e) {
  if (e.kind != ExprKind::kBinary) return kAtomLevel;
  switch (e.binary_op) {
    case BinaryOp::kOr:
      return kOrLevel;
    case BinaryOp::kAnd:
      return kAndLevel;
    case BinaryOp::kEq:
    case BinaryOp::kNe:
    case BinaryOp::kLt:
    case BinaryOp::kLe:
    case BinaryOp::kGt:
    case BinaryOp::kGe:
      return kCompareLevel;
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
      return kAddLevel;
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
      return kMulLevel;
    default:
      return kAtomLevel;  // written as a call
  }
}

bool IsIdentifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || !letter(name[0])) return false;
  for (size_t i = 1; i < name.size(); ++i) {
    if (letter(name[i]) || digit(name[i])) continue;
    // A dot joins: it never ends a name nor meets another dot, which would be a range.
    if (name[i] != '.' || i + 1 == name.size() || name[i + 1] == '.') return false;
  }
  return true;
}

// Names of variables that would read as something else are quoted.
bool IsReserved(std::string_view name) {
  static const auto* words = [] {
    auto* set = new absl::flat_hash_set<std::string>(
        {"true", "false", "inf", "nan", "in", "select", "cast"});
    for (int i = 0; i <= static_cast<int>(UnaryOp::kSign); ++i) {
      set->emplace(loop::Name(static_cast<UnaryOp>(i)));
    }
    for (int i = 0; i <= static_cast<int>(BinaryOp::kBitOr); ++i) {
      set->emplace(loop::Name(static_cast<BinaryOp>(i)));
    }
    for (int i = 1; i <= static_cast<int>(kLastDataType); ++i) {
      set->emplace(hone::Name(static_cast<DataType>(i)));
    }
    return set;
  }();
  return words->contains(absl::string_view(name.data(), name.size()));
}

class Printer {
 public:
  explicit Printer(bool canonical) : canonical_(canonical) { out_.reserve(4096); }
  std::string Take() { return std::move(out_); }

  void Print(const Nest& nest) {
    out_ += "nest @";
    Name(canonical_ ? "k" : nest.name);
    out_ += " {\n";
    for (const Buffer& buffer : nest.buffers) {
      out_ += "  ";
      out_ += RoleWord(buffer->role);
      out_ += ' ';
      Declare(buffer);
      out_ += '\n';
    }
    for (const Launch& launch : nest.launches) {
      out_ += launch.phase == Phase::kPrepare ? "  prepare @" : "  run @";
      Name(canonical_ ? "l" : launch.name);
      out_ += " {\n";
      Print(launch.body, 2);
      out_ += "  }\n";
    }
    out_ += "}\n";
  }

  void Print(const Stmt& s, int indent) {
    if (s->kind == StmtKind::kSeq) {
      for (const Stmt& child : s->body) Print(child, indent);
      return;
    }
    Indent(indent);
    switch (s->kind) {
      case StmtKind::kFor:
        PrintLoop(*s);
        return Block(s->body[0], indent);
      case StmtKind::kStore:
        Element(s->buffer, s->indices);
        out_ += " = ";
        Print(s->value);
        break;
      case StmtKind::kIf:
        return PrintIf(*s, indent);
      case StmtKind::kWhile:
        out_ += "while ";
        Print(s->condition);
        return Block(s->body[0], indent);
      case StmtKind::kAlloc:
        out_ += "alloc ";
        out_ += ScopeWord(s->buffer->scope);
        Declare(s->buffer);
        return Block(s->body[0], indent);
      case StmtKind::kBarrier:
        out_ += "barrier";
        if (s->pending > 0) {
          out_ += " pending ";
          Number(int64_t{s->pending});
        }
        break;
      case StmtKind::kCommit:
        out_ += "commit";
        break;
      case StmtKind::kPrefetch:
        out_ += "prefetch ";
        Element(s->buffer, s->indices);
        out_ += " locality ";
        Number(int64_t{s->locality});
        break;
      case StmtKind::kSeq:
        break;
    }
    out_ += '\n';
  }

  void Print(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kInt:
        return PrintInt(*e);
      case ExprKind::kFloat:
        return PrintFloat(*e);
      case ExprKind::kVar:
        return PrintVar(e);
      case ExprKind::kLoad:
        return Element(e->buffer, e->operands);
      case ExprKind::kUnary:
        out_ += loop::Name(e->unary_op);
        return Arguments(e->operands);
      case ExprKind::kBinary:
        return PrintBinary(*e);
      case ExprKind::kSelect:
        out_ += "select";
        return Arguments(e->operands);
      case ExprKind::kCast:
        out_ += "cast<";
        out_ += hone::Name(e->dtype);
        out_ += '>';
        return Arguments(e->operands);
    }
  }

 private:
  static std::string_view RoleWord(Role role) {
    switch (role) {
      case Role::kInput:
        return "input";
      case Role::kConstant:
        return "constant";
      case Role::kPrepared:
        return "prepared";
      case Role::kWorkspace:
        return "workspace";
      case Role::kOutput:
        return "output";
    }
    return "";
  }

  static std::string_view ScopeWord(Scope scope) {
    switch (scope) {
      case Scope::kRegister:
        return "register ";
      case Scope::kShared:
        return "shared ";
      case Scope::kTile:
        return "tile ";
      case Scope::kLocal:
      case Scope::kGlobal:  // is not allocated
        break;
    }
    return "local ";
  }

  static std::string_view LoopWord(LoopKind kind) {
    switch (kind) {
      case LoopKind::kSerial:
        return "for ";
      case LoopKind::kParallel:
        return "parallel ";
      case LoopKind::kThread:
        return "thread ";
      case LoopKind::kVectorize:
        return "vectorize ";
      case LoopKind::kUnroll:
        return "unroll ";
      case LoopKind::kDot:
        return "dot ";
      case LoopKind::kTile:
        return "tile ";
    }
    return "";
  }

  void Indent(int indent) { out_.append(2 * static_cast<size_t>(indent), ' '); }

  void Name(std::string_view name) {
    if (IsIdentifier(name)) {
      out_ += name;
      return;
    }
    out_ += '"';
    for (char c : name) {
      if (c == '"' || c == '\\') out_ += '\\';
      out_ += c;
    }
    out_ += '"';
  }

  template <typename T>
  void Number(T value) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    out_.append(digits, static_cast<size_t>(end - digits));
  }

  void PrintInt(const ExprNode& e) {
    if (e.dtype == DataType::kBool) {
      out_ += e.int_value != 0 ? "true" : "false";
      return;
    }
    const bool plain = e.dtype == DataType::kInt64;
    if (!plain) {
      out_ += hone::Name(e.dtype);
      out_ += '(';
    }
    Number(e.int_value);
    if (!plain) out_ += ')';
  }

  void PrintFloat(const ExprNode& e) {
    const double value = e.float_value;
    const bool plain = e.dtype == DataType::kFloat32 && std::isfinite(value);
    if (!plain) {
      out_ += hone::Name(e.dtype);
      out_ += '(';
    }
    if (std::isnan(value)) {
      out_ += "nan";
    } else if (std::isinf(value)) {
      out_ += value < 0 ? "-inf" : "inf";
    } else {
      const size_t start = out_.size();
      if (e.dtype == DataType::kFloat32) {
        Number(static_cast<float>(value));
      } else {
        Number(value);
      }
      if (out_.find_first_of(".e", start) == std::string::npos) out_ += ".0";
    }
    if (!plain) out_ += ')';
  }

  void PrintVar(const Expr& e) {
    if (canonical_) {
      const auto [it, inserted] = vars_.try_emplace(e.get(), vars_.size());
      out_ += 'v';
      Number(static_cast<int64_t>(it->second));
      return;
    }
    if (IsReserved(e->name)) {
      out_ += '"';
      out_ += e->name;
      out_ += '"';
    } else {
      Name(e->name);
    }
  }

  void BufferName(const Buffer& buffer) {
    out_ += '%';
    if (!canonical_) return Name(buffer->name);
    const auto [it, inserted] = buffers_.try_emplace(buffer.get(), buffers_.size());
    out_ += 'b';
    Number(static_cast<int64_t>(it->second));
  }

  void PrintBinary(const ExprNode& e) {
    const int level = PrecedenceOf(e);
    if (level == kAtomLevel) {
      out_ += loop::Name(e.binary_op);
      return Arguments(e.operands);
    }
    int64_t value = 0;
    const bool negative = e.binary_op == BinaryOp::kAdd && e.dtype == DataType::kInt64 &&
                          IsConstInt(e.operands[1], &value) && value < 0 &&
                          value != std::numeric_limits<int64_t>::min();
    if (negative) {  // i + -1 reads better, and back, as i - 1
      Operand(e.operands[0], level);
      out_ += " - ";
      return Number(-value);
    }
    // Left-associative, but for comparisons, which do not chain.
    Operand(e.operands[0], level == kCompareLevel ? level + 1 : level);
    out_ += ' ';
    out_ += loop::Name(e.binary_op);
    out_ += ' ';
    Operand(e.operands[1], level + 1);
  }

  void Operand(const Expr& e, int level) {
    const bool parentheses = PrecedenceOf(*e) < level;
    if (parentheses) out_ += '(';
    Print(e);
    if (parentheses) out_ += ')';
  }

  void List(const std::vector<Expr>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ", ";
      Print(items[i]);
    }
  }

  void Arguments(const std::vector<Expr>& items) {
    out_ += '(';
    List(items);
    out_ += ')';
  }

  void Element(const Buffer& buffer, const std::vector<Expr>& indices) {
    BufferName(buffer);
    out_ += '[';
    List(indices);
    out_ += ']';
  }

  void Declare(const Buffer& buffer) {
    BufferName(buffer);
    out_ += ": ";
    out_ += hone::Name(buffer->dtype);
    out_ += '[';
    for (size_t i = 0; i < buffer->shape.size(); ++i) {
      if (i > 0) out_ += ", ";
      Number(buffer->shape[i]);
    }
    out_ += ']';
    if (buffer->layout.rank() > 0) {
      out_ += ' ';
      out_ += buffer->layout.ToString();
    }
    if (buffer->domain_low != 0 || buffer->domain_high != 0 || buffer->ascending) {
      out_ += buffer->ascending ? " domain ascending [" : " domain [";
      Number(buffer->domain_low);
      out_ += ", ";
      Number(buffer->domain_high);
      out_ += ']';
    }
  }

  void PrintLoop(const StmtNode& s) {
    out_ += LoopWord(s.loop_kind);
    PrintVar(s.var);
    if (s.var->dtype != DataType::kInt64) {
      out_ += ": ";
      out_ += hone::Name(s.var->dtype);
    }
    out_ += " in ";
    Print(s.min);
    out_ += IsInt(s.min, 0) ? ".." : "..+";
    Print(s.extent);
  }

  void Block(const Stmt& body, int indent) {
    out_ += " {\n";
    Print(body, indent + 1);
    Indent(indent);
    out_ += "}\n";
  }

  void PrintIf(const StmtNode& s, int indent) {
    out_ += "if ";
    Print(s.condition);
    out_ += " {\n";
    Print(s.body[0], indent + 1);
    Indent(indent);
    if (s.body.size() == 1) {
      out_ += "}\n";
      return;
    }
    out_ += "} else {\n";
    Print(s.body[1], indent + 1);
    Indent(indent);
    out_ += "}\n";
  }

  const bool canonical_;
  std::string out_;
  absl::flat_hash_map<const ExprNode*, size_t> vars_;
  absl::flat_hash_map<const BufferNode*, size_t> buffers_;
};

}  // namespace

std::string ToText(const Nest& nest) {
  Printer printer(false);
  printer.Print(nest);
  return printer.Take();
}

std::string ToText(const Stmt& stmt, int indent) {
  Printer printer(false);
  printer.Print(stmt, indent);
  return printer.Take();
}

std::string ToText(const Expr& expr) {
  Printer printer(false);
  printer.Print(expr);
  return printer.Take();
}

std::string ToCanonicalText(const Nest& nest) {
  Printer printer(true);
  printer.Print(nest);
  return printer.Take();
}

}  // namespace hone::loop
