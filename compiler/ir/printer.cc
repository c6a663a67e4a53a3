#include "compiler/ir/printer.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "absl/strings/escaping.h"
#include "compiler/ir/literal.h"
#include "compiler/ir/scopes.h"

namespace hone::ir {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

bool IsPlainName(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return true;
}

// Names of variables and functions come from models and may hold anything.
std::string NameText(const std::string& name) { return IsPlainName(name) ? name : Quoted(name); }

template <typename T, typename F>
std::string ListText(const std::vector<T>& items, std::string_view if_empty, F text) {
  if (items.empty()) return std::string(if_empty);
  std::string list = "[";
  for (const T& item : items) list += (list.size() == 1 ? "" : ", ") + text(item);
  return list + "]";
}

struct AttrPrinter {
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return DoubleText(v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::string& v) const { return Quoted(v); }
  std::string operator()(DataType v) const { return std::string(Name(v)); }
  std::string operator()(const std::vector<int64_t>& v) const {
    return ListText(v, "[]", [](int64_t i) { return std::to_string(i); });
  }
  std::string operator()(const std::vector<double>& v) const {
    return ListText(v, "floats[]", DoubleText);
  }
  std::string operator()(const std::vector<std::string>& v) const {
    return ListText(v, "strings[]", Quoted);
  }
};

// Constants of rank 1 and more, in the order of their first mention.
class MetadataTable {
 public:
  std::string Mention(const Expr& constant) {
    const auto [it, fresh] = index_.try_emplace(constant.get(), constants_.size());
    if (fresh) constants_.push_back(constant);
    return fmt::format("meta[Constant][{}]", it->second);
  }

  std::string Text(const PrintOptions& options) const {
    std::string text;
    for (size_t i = 0; i < constants_.size(); ++i) {
      const ConstantData& data = constants_[i]->data;
      const absl::string_view bytes(reinterpret_cast<const char*>(data.bytes()), data.size_bytes());
      text += fmt::format("meta[Constant][{}] = {}", i, constants_[i]->type->ToString());
      if (options.constants) text += " \"" + absl::Base64Escape(bytes) + "\"";
      text += ";\n";
    }
    return text.empty() ? text : "\n" + text;
  }

 private:
  std::unordered_map<const ExprNode*, size_t> index_;
  std::vector<Expr> constants_;
};

// Prints one definition. Recurses only into nested blocks.
class DefinitionPrinter {
 public:
  DefinitionPrinter(const Expr& root, MetadataTable* metadata)
      : root_(root), scopes_(root), metadata_(metadata) {}

  std::string Definition(const std::string& name) {
    text_ = "def @" + NameText(name);
    FunctionRest(root_);
    return text_ + "\n";
  }

  std::string Expression() {
    if (root_->kind == ExprKind::kFunction) {
      RightHandSide(root_);
      text_ += "\n";
    } else {
      Statements(0, root_);
    }
    return text_;
  }

 private:
  void NewLine() { text_ += "\n" + std::string(indent_ * 2, ' '); }

  // Gives a variable the name it is printed with, different from those of all visible ones.
  std::string Bind(const Expr& var) {
    std::string name = var->name;
    // From where the last search ended: thousands of lets may bind one name.
    int& next = next_suffix_[var->name];
    while (visible_.contains(name)) name = fmt::format("{}_{}", var->name, ++next);
    visible_.insert(name);
    names_[var.get()] = name;
    return "%" + NameText(name);
  }

  void Unbind(const Expr& var) {
    visible_.erase(names_.at(var.get()));
    next_suffix_.erase(var->name);
  }

  std::string Reference(const Expr& node) {
    switch (node->kind) {
      case ExprKind::kVar: {
        const auto it = names_.find(node.get());
        return it != names_.end() ? "%" + NameText(it->second) : Bind(node);
      }
      case ExprKind::kGlobalVar:
        return "@" + NameText(node->name);
      case ExprKind::kConstant:
        return node->type->tensor.shape.empty() ? LiteralText(*node) : metadata_->Mention(node);
      default:
        break;
    }
    const auto it = numbers_.find(node.get());
    return it != numbers_.end() ? fmt::format("%{}", it->second) : Item(node);
  }

  // Inline TupleGetItems, of one another: a loop, no recursion.
  std::string Item(const Expr& last) {
    std::vector<int64_t> indices;
    const Expr* node = &last;
    while ((*node)->kind == ExprKind::kTupleGetItem && !numbers_.contains(node->get())) {
      indices.push_back((*node)->index);
      node = &(*node)->args[0];
    }
    std::string text = Reference(*node);
    for (size_t i = indices.size(); i-- > 0;) text += fmt::format(".{}", indices[i]);
    return text;
  }

  // Nodes that stand where they are used, instead of in a statement of their own.
  bool IsInline(const Expr& node) const {
    switch (node->kind) {
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstant:
        return true;
      case ExprKind::kTupleGetItem:
        return scopes_.Uses(node) <= 1;
      default:
        return false;
    }
  }

  std::string Arguments(const ExprNode& call) {
    std::string list;
    for (const Expr& arg : call.args) list += (list.empty() ? "" : ", ") + Reference(arg);
    const std::string attrs = ToText(call.attrs);
    if (!list.empty() && !attrs.empty()) list += ", ";
    return "(" + list + attrs + ")";
  }

  void RightHandSide(const Expr& node) {
    switch (node->kind) {
      case ExprKind::kCall:
        text_ += (node->callee ? Reference(node->callee) : node->name) + Arguments(*node);
        return;
      case ExprKind::kTuple:
        if (node->args.size() == 1) {
          text_ += "(" + Reference(node->args[0]) + ",)";
        } else {
          text_ += Arguments(*node);
        }
        return;
      case ExprKind::kTupleGetItem:
        text_ += fmt::format("{}.{}", Reference(node->args[0]), node->index);
        return;
      case ExprKind::kFunction:
        text_ += "fn ";
        FunctionRest(node);
        return;
      case ExprKind::kIf:
        text_ += "if (" + Reference(node->args[0]) + ") ";
        Block(scopes_.Opened(node, 1), node->args[1]);
        text_ += " else ";
        Block(scopes_.Opened(node, 2), node->args[2]);
        return;
      case ExprKind::kLet:  // one whose value is used: a block of its own
        text_ += "{";
        ++indent_;
        NewLine();
        Lets(node);
        --indent_;
        NewLine();
        text_ += "}";
        return;
      default:
        text_ += Reference(node);
    }
  }

  void FunctionRest(const Expr& function) {
    const std::vector<Expr> params = Params(*function);
    std::string list;
    for (const Expr& param : params) {
      if (!list.empty()) list += ", ";
      list += Bind(param) + ": " + param->type->ToString();
    }
    const std::string attrs = ToText(function->attrs);
    if (!list.empty() && !attrs.empty()) list += ", ";
    text_ += "(" + list + attrs + ")";
    const Expr& body = Body(*function);
    if (body->type) {
      text_ += " -> " + ValueType(*body).ToString();
    } else if (function->type) {
      text_ += " -> " + function->type->ToString();
    }
    text_ += " ";
    Block(scopes_.Opened(function, function->args.size() - 1), body);
    for (const Expr& param : params) Unbind(param);
  }

  void Block(int scope, const Expr& result) {
    text_ += "{";
    ++indent_;
    NewLine();
    Statements(scope, result);
    --indent_;
    NewLine();
    text_ += "}";
  }

  bool IsTail(int scope, const Expr& result) const {
    return !IsInline(result) && scopes_.Of(result) == scope && scopes_.Uses(result) <= 1;
  }

  void Statements(int scope, const Expr& result) {
    const bool tail = IsTail(scope, result);
    StatementsBefore(scope, tail ? result : nullptr);
    if (!tail) {
      text_ += Reference(result);
    } else if (result->kind == ExprKind::kLet) {
      Lets(result);
    } else {
      RightHandSide(result);
    }
  }

  // A chain of lets is as long as a program: a loop, no recursion.
  void Lets(const Expr& first) {
    std::vector<Expr> bound;
    Expr let = first;
    while (true) {
      const Expr& var = let->args[0];
      const std::string value = Reference(let->args[1]);
      text_ += fmt::format("let {}: {} = {};", Bind(var), var->type->ToString(), value);
      NewLine();
      bound.push_back(var);
      const int scope = scopes_.Opened(let, 2);
      const Expr& body = let->args[2];
      if (body->kind != ExprKind::kLet || !IsTail(scope, body)) {
        Statements(scope, body);
        break;
      }
      StatementsBefore(scope, body);
      let = body;
    }
    for (const Expr& var : bound) Unbind(var);
  }

  void StatementsBefore(int scope, const Expr& tail) {
    for (const Expr& node : scopes_.Nodes(scope)) {
      if (IsInline(node) || node == tail) continue;
      const size_t number = next_number_++;
      text_ += fmt::format("%{} = ", number);
      RightHandSide(node);
      numbers_[node.get()] = number;
      text_ += ";";
      NewLine();
    }
  }

  const Expr root_;
  const Scopes scopes_;
  MetadataTable* const metadata_;
  std::string text_;
  int indent_ = 0;
  size_t next_number_ = 0;
  std::unordered_map<const ExprNode*, size_t> numbers_;
  std::unordered_map<const ExprNode*, std::string> names_;
  std::set<std::string> visible_;
  std::unordered_map<std::string, int> next_suffix_;
};

}  // namespace

std::string ToText(const AttrValue& value) { return std::visit(AttrPrinter{}, value); }

std::string ToText(const Attrs& attrs) {
  std::string text;
  for (const auto& [name, value] : attrs) {
    if (!text.empty()) text += ", ";
    text += NameText(name) + "=" + ToText(value);
  }
  return text;
}

std::string ToText(const Module& module, const PrintOptions& options) {
  MetadataTable metadata;
  std::string text;
  for (const auto& [name, function] : module.functions) {
    if (!text.empty()) text += "\n";
    text += DefinitionPrinter(function, &metadata).Definition(name);
  }
  return text + metadata.Text(options);
}

std::string ToText(const Expr& expr, const PrintOptions& options) {
  MetadataTable metadata;
  const std::string text = DefinitionPrinter(expr, &metadata).Expression();
  return text + metadata.Text(options);
}

}  // namespace hone::ir
