#include "compiler/ir/workload.h"

#include <fmt/format.h>

#include <cassert>
#include <unordered_map>

#include "compiler/ir/literal.h"
#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "support/digest.h"
#include "support/status.h"

namespace hone::ir {
namespace {

Expr FindAnchor(const Expr& function, const AnchorRank& rank) {
  Expr anchor;
  for (const Expr& node : PostOrder(Body(*function))) {
    if (node->kind != ExprKind::kCall || node->callee) continue;
    if (!anchor || rank(node->name) > rank(anchor->name)) anchor = node;
  }
  return anchor;
}

std::string_view AccumulatorName(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat64:
    case DataType::kInt64:
      return Name(dtype);
    case DataType::kFloat32:
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return Name(DataType::kFloat32);
    default:
      return Name(DataType::kInt32);
  }
}

const Type* TypeOfFirstTensor(const Type* type) {
  while (type != nullptr && type->is_tuple) {
    type = type->fields.empty() ? nullptr : &type->fields[0];
  }
  return type;
}

std::string Accumulator(const Expr& function, const Expr& anchor) {
  std::string stated = GetAttr<std::string>(function->attrs, "accumulate", "");
  if (!stated.empty()) return stated;
  const Expr& source = anchor && !anchor->args.empty() ? anchor->args[0] : Body(*function);
  const Type* type = TypeOfFirstTensor(source->type.get());
  return std::string(AccumulatorName(type == nullptr ? DataType::kFloat32 : type->tensor.dtype));
}

// Prints the body of a fused function on one line.
class LinePrinter {
 public:
  std::string Print(const std::vector<Expr>& params, const std::vector<bool>& is_const,
                    const Expr& result) {
    std::string text = "fn (";
    for (size_t i = 0; i < params.size(); ++i) {
      names_[params[i].get()] = fmt::format("p{}", i);
      text += fmt::format("{}{}p{}: {}", i == 0 ? "" : ", ", is_const[i] ? "const " : "", i,
                          params[i]->type->ToString());
    }
    text += ") { ";
    for (const Expr& node : PostOrder(result)) {
      if (node == result || names_.contains(node.get())) continue;
      if (node->kind == ExprKind::kConstant) {
        names_[node.get()] = ConstantText(*node);
        continue;
      }
      const std::string name = fmt::format("%{}", next_++);
      text += fmt::format("{} = {}; ", name, Value(node));
      names_[node.get()] = name;
    }
    const auto named = names_.find(result.get());
    return text + (named != names_.end() ? named->second : Value(result)) + " }";
  }

 private:
  static std::string ConstantText(const ExprNode& constant) {
    assert(constant.type->tensor.shape.empty() && "larger constants are parameters of a kernel");
    return LiteralText(constant);
  }

  std::string Value(const Expr& node) const {
    if (node->kind == ExprKind::kConstant) return ConstantText(*node);
    if (node->kind == ExprKind::kTupleGetItem) {
      return fmt::format("{}.{}", names_.at(node->args[0].get()), node->index);
    }
    assert((node->kind == ExprKind::kTuple || (node->kind == ExprKind::kCall && !node->callee)) &&
           "a fused function holds operator calls and tuples only");
    std::string list;
    for (const Expr& arg : node->args) {
      list += (list.empty() ? "" : ", ") + names_.at(arg.get());
    }
    if (node->kind == ExprKind::kTuple && node->args.size() == 1) return "(" + list + ",)";
    const std::string attrs = ToText(node->attrs);
    if (!list.empty() && !attrs.empty()) list += ", ";
    return fmt::format("{}({}{})", node->name, list, attrs);
  }

  std::unordered_map<const ExprNode*, std::string> names_;
  int next_ = 0;
};

// The text of the function that ends at `result`, with the parameters it still uses.
std::string AnchorText(const Expr& function, const std::vector<bool>& const_params,
                       const Expr& result) {
  std::vector<Expr> params;
  std::vector<bool> is_const;
  const std::vector<Expr> all = Params(*function);
  const std::vector<Expr> order = PostOrder(result);
  for (size_t i = 0; i < all.size(); ++i) {
    if (std::find(order.begin(), order.end(), all[i]) == order.end()) continue;
    params.push_back(all[i]);
    is_const.push_back(const_params[i]);
  }
  return LinePrinter().Print(params, is_const, result);
}

absl::StatusOr<std::vector<Layout>> ParseLayouts(std::string_view text,
                                                 const std::vector<int>& ranks) {
  std::vector<Layout> layouts;
  size_t start = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t comma = std::min(text.find(',', start), text.size());
    const bool last = i + 1 == ranks.size();
    if (last != (comma == text.size()) || start > text.size()) {
      return absl::InvalidArgumentError(
          fmt::format("expected {} layouts in '{}' of a layout signature", ranks.size(), text));
    }
    const std::string_view name = text.substr(start, comma - start);
    const std::optional<Layout> layout = Layout::Parse(name, ranks[i]);
    if (!layout) {
      return absl::InvalidArgumentError(
          fmt::format("'{}' is no layout of a tensor of rank {}", name, ranks[i]));
    }
    layouts.push_back(*layout);
    start = comma + 1;
  }
  if (ranks.empty() && !text.empty()) {
    return absl::InvalidArgumentError(fmt::format("expected no layout, found '{}'", text));
  }
  return layouts;
}

std::string JoinLayouts(const std::vector<Layout>& layouts) {
  std::string text;
  for (size_t i = 0; i < layouts.size(); ++i) text += (i == 0 ? "" : ",") + layouts[i].ToString();
  return text;
}

}  // namespace

Workload MakeWorkload(const Expr& function, const std::vector<bool>& const_params,
                      const AnchorRank& rank) {
  assert(const_params.size() + 1 == function->args.size());
  const Expr anchor = FindAnchor(function, rank);
  const std::string suffix =
      fmt::format(" accumulate={} numerics={}", Accumulator(function, anchor),
                  GetAttr<std::string>(function->attrs, "numerics", "default"));
  Workload workload;
  workload.text = LinePrinter().Print(Params(*function), const_params, Body(*function)) + suffix;
  workload.digest = Sha256Hex(workload.text);
  workload.anchor_digest =
      anchor ? Sha256Hex(AnchorText(function, const_params, anchor) + suffix) : workload.digest;
  return workload;
}

absl::StatusOr<ParsedWorkload> ParseWorkload(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(FunctionText parsed, ParseFunctionText(text));
  Attrs attrs = parsed.function->attrs;
  attrs["primitive"] = true;
  for (const char* word : {"accumulate", "numerics"}) {
    const auto it = parsed.words.find(word);
    if (it == parsed.words.end()) {
      return absl::InvalidArgumentError(
          fmt::format("expected '{}=...' at the end of a workload", word));
    }
    attrs[word] = it->second;
  }
  if (const std::string& type = parsed.words.at("accumulate"); !ParseDataType(type)) {
    return absl::InvalidArgumentError(fmt::format(
        "expected accumulate=TYPE at the end of a workload, TYPE an element type, found '{}'",
        type));
  }
  for (const Expr& node : PostOrder(Body(*parsed.function))) {
    const bool known = node->kind == ExprKind::kVar || node->kind == ExprKind::kTuple ||
                       node->kind == ExprKind::kTupleGetItem ||
                       (node->kind == ExprKind::kConstant && node->type->tensor.shape.empty()) ||
                       (node->kind == ExprKind::kCall && !node->callee);
    if (!known) {
      return absl::InvalidArgumentError(
          "a workload holds operator calls, tuples and scalar constants only");
    }
  }
  return ParsedWorkload{Function(Params(*parsed.function), Body(*parsed.function), attrs),
                        parsed.const_params};
}

std::string LayoutSignature::ToString() const {
  return JoinLayouts(operands) + "->" + JoinLayouts(results);
}

absl::StatusOr<LayoutSignature> LayoutSignature::Parse(std::string_view text,
                                                       const std::vector<int>& operand_ranks,
                                                       const std::vector<int>& result_ranks) {
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) {
    return absl::InvalidArgumentError(
        fmt::format("expected a layout signature such as 'NCHW,NCHW->NCHW', found '{}'", text));
  }
  LayoutSignature signature;
  HONE_ASSIGN_OR_RETURN(signature.operands, ParseLayouts(text.substr(0, arrow), operand_ranks));
  HONE_ASSIGN_OR_RETURN(signature.results, ParseLayouts(text.substr(arrow + 2), result_ranks));
  return signature;
}

}  // namespace hone::ir
