#include "compiler/frontend/onnx/repeat_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/frontend/onnx/results.h"
#include "compiler/ir/node_map.h"
#include "compiler/ops/call_type.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using ir::Expr;
using ir::ExprKind;

// Makes a body closed: what follows from variables that are no parameters becomes a parameter, as
// far as it does not follow from parameters. What follows from constants alone stays, to be folded.
class Closure {
 public:
  explicit Closure(std::vector<Expr>* params, std::vector<Expr>* operands)
      : params_(params), operands_(operands) {}

  Expr Close(const Expr& body) {
    const ir::NodeSet own = [&] {
      ir::NodeSet set;
      for (const Expr& param : *params_) set.insert(param.get());
      return set;
    }();
    for (const Expr& node : ir::PostOrderOutside(body)) {
      const auto is_in = [](const ir::NodeSet& set) {
        return [&set](const Expr& arg) { return set.contains(arg.get()); };
      };
      const bool changes = own.contains(node.get()) ||
                           std::any_of(node->args.begin(), node->args.end(), is_in(changing_));
      const bool is_free =
          !changes && (node->kind == ExprKind::kVar ||
                       std::any_of(node->args.begin(), node->args.end(), is_in(given_)));
      if (changes) changing_.insert(node.get());
      if (is_free) given_.insert(node.get());
      if (!changes || own.contains(node.get())) continue;
      std::vector<Expr> args;
      for (const Expr& arg : node->args) args.push_back(Inside(arg));
      done_[node.get()] = ir::WithOperands(node, node->callee, std::move(args));
    }
    return Inside(body);
  }

 private:
  // What stands for a node of the whole in the body.
  Expr Inside(const Expr& node) {
    if (const auto found = done_.find(node.get()); found != done_.end()) return found->second;
    if (!given_.contains(node.get())) return node;
    if (node->kind != ExprKind::kTuple && node->type->IsTensor()) {
      Expr param = ir::Var(fmt::format("shared{}", operands_->size()), *node->type);
      params_->push_back(param);
      operands_->push_back(node);
      return done_[node.get()] = std::move(param);
    }
    std::vector<Expr> fields = node->kind == ExprKind::kTuple ? node->args : ItemsOf(node);
    for (Expr& field : fields) {
      // An item that was made here is as given as its tuple.
      given_.insert(field.get());
      field = Inside(field);
    }
    return done_[node.get()] = ops::TypedTuple(std::move(fields));
  }

  std::vector<Expr>* const params_;
  std::vector<Expr>* const operands_;
  ir::NodeSet changing_;  // from trip to trip
  ir::NodeSet given_;     // by variables of the whole
  ir::NodeMap<Expr> done_;
};

}  // namespace

Expr RepeatBuilder::AddState(const Expr& initial) {
  operands_.push_back(initial);
  params_.push_back(ir::Var(fmt::format("state{}", repeat_.states++), *initial->type));
  return params_.back();
}

Expr RepeatBuilder::AddSlice(const Expr& scanned, bool backwards, Expr row) {
  if (!row) {
    ir::Type type = *scanned->type;
    type.tensor.shape.erase(type.tensor.shape.begin());
    row = ir::Var(fmt::format("slice{}", repeat_.slices), std::move(type));
  }
  ++repeat_.slices;
  operands_.push_back(scanned);
  params_.push_back(std::move(row));
  repeat_.backwards.push_back(backwards ? 1 : 0);
  return params_.back();
}

namespace {

bool IsMadeOfConstants(const std::vector<Expr>& values) {
  const std::vector<Expr> nodes = ir::PostOrder(ir::Tuple(values));
  return std::none_of(nodes.begin(), nodes.end(),
                      [](const Expr& node) { return node->kind == ExprKind::kVar; });
}

}  // namespace

Results RepeatBuilder::Finish(const std::vector<Expr>& next, const std::vector<Stack>& stacks,
                              Repeats* repeats) && {
  if (repeat_.trips > ops::kMostTrips) {
    return absl::UnimplementedError(fmt::format("loops of at most {} trips were expected, found {}",
                                                ops::kMostTrips, repeat_.trips));
  }
  std::vector<Expr> results = next;
  for (size_t i = 0; i < next.size(); ++i) {
    if (*next[i]->type == *params_[i]->type) continue;
    return absl::UnimplementedError(
        fmt::format("states that keep their type from trip to trip were expected, found one that "
                    "becomes {} from {}",
                    next[i]->type->ToString(), params_[i]->type->ToString()));
  }
  for (const Stack& stack : stacks) {
    results.push_back(stack.row);
    repeat_.backwards.push_back(stack.backwards ? 1 : 0);
  }
  Expr body = Closure(&params_, &operands_).Close(ops::TypedTuple(std::move(results)));
  if (repeat_.trips <= kMostUnrolledTrips && IsMadeOfConstants(operands_)) {
    return absl::UnimplementedError("a loop over constants alone, whose value shapes may need");
  }
  const Expr function = ops::TypedFunction(params_, std::move(body));
  std::vector<ir::Type> types;
  for (const Expr& operand : operands_) types.push_back(*operand->type);
  HONE_ASSIGN_OR_RETURN(ir::Type type, ops::RepeatType(repeat_, ir::ValueType(*function), types));
  const std::string name = fmt::format("repeat{}", repeats->functions.size());
  repeats->functions[name] = function;
  return ItemsOf(ir::WithType(
      ir::CallFunction(ir::GlobalVar(name), operands_, ops::AttrsOf(repeat_)), std::move(type)));
}

}  // namespace hone::frontend
