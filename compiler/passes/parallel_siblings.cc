#include "compiler/passes/parallel_siblings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/node_map.h"
#include "compiler/ir/printer.h"
#include "compiler/ops/op.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// One step along all branches of a group: what takes their values on.
struct Step {
  size_t slot = 0;          // which operand the branch's value is
  std::vector<Expr> calls;  // of each branch
};

struct Group {
  std::vector<Expr> calls;
  std::vector<Step> steps;
  Expr combined = {};  // once it is built

  const std::vector<Expr>& Ends() const { return steps.empty() ? calls : steps.back().calls; }
};

class Combiner {
 public:
  Combiner(const Expr& function, const Stackable& stackable, int min_siblings)
      : function_(function), stackable_(stackable), min_siblings_(min_siblings) {}

  Expr Run() {
    Survey();
    if (group_of_end_.empty()) return function_;
    ir::NodeMap<Expr> done;
    for (const Expr& node : order_) {
      done[node.get()] = Visit(node, done);
    }
    return done.at(function_.get());
  }

 private:
  void Survey() {
    order_ = ir::PostOrderOutside(function_);
    std::map<std::string, std::vector<Expr>> siblings;
    std::vector<std::string> keys;  // in the order of the graph
    for (const Expr& node : order_) {
      for (const Expr& arg : node->args) users_[arg.get()].push_back(node);
      if (IsConstantExpr(node)) constant_.insert(node.get());
      if (!ir::IsCall(node, stackable_.op) || !IsCandidate(*node)) continue;
      std::vector<Expr>& group = siblings[Key(*node)];
      if (group.empty()) keys.push_back(Key(*node));
      group.push_back(node);
    }
    for (const std::string& key : keys) {
      if (static_cast<int>(siblings.at(key).size()) >= min_siblings_) {
        AddGroup(std::move(siblings.at(key)));
      }
    }
  }

  // Operands come first, so theirs are known.
  bool IsConstantExpr(const Expr& node) const {
    if (node->kind == ExprKind::kConstant) return true;
    if (node->kind != ExprKind::kCall || node->callee || node->args.empty()) return false;
    return std::all_of(node->args.begin(), node->args.end(),
                       [&](const Expr& arg) { return constant_.contains(arg.get()); });
  }

  bool IsCandidate(const ir::ExprNode& call) const {
    return call.type && call.args.size() == 2 && !constant_.contains(call.args[0].get()) &&
           constant_.contains(call.args[1].get()) && stackable_.is_stackable(call);
  }

  static std::string Key(const ir::ExprNode& call) {
    const ir::TensorType& weight = call.args[1]->type->tensor;
    return fmt::format("{} {} {} {}", fmt::ptr(call.args[0].get()),
                       fmt::join(weight.shape.begin() + 1, weight.shape.end(), ","),
                       static_cast<int>(weight.dtype), ir::ToText(AttrsWithoutChannels(call)));
  }

  // The number of results follows from the weights.
  static ir::Attrs AttrsWithoutChannels(const ir::ExprNode& call) {
    ir::Attrs attrs = call.attrs;
    attrs.erase("channels");
    attrs.erase("units");
    return attrs;
  }

  void AddGroup(std::vector<Expr> calls) {
    Group group{.calls = std::move(calls), .steps = {}};
    while (std::optional<Step> step = NextStep(group)) group.steps.push_back(*std::move(step));
    for (const Expr& end : group.Ends()) group_of_end_[end.get()] = groups_.size();
    groups_.push_back(std::move(group));
  }

  std::optional<Step> NextStep(const Group& group) const {
    Step step;
    for (const Expr& end : group.Ends()) {
      const auto users = users_.find(end.get());
      if (users == users_.end() || users->second.size() != 1) return std::nullopt;
      const Expr& user = users->second[0];
      if (!IsStep(*user, *end)) return std::nullopt;
      const size_t slot = user->args[0] == end ? 0 : 1;
      if (step.calls.empty()) {
        step.slot = slot;
      } else if (slot != step.slot || !AreAlike(*user, *step.calls[0], slot)) {
        return std::nullopt;
      }
      step.calls.push_back(user);
    }
    return step;
  }

  // An elementwise operator, or one with a constant operand per channel.
  bool IsStep(const ir::ExprNode& user, const ir::ExprNode& value) const {
    if (user.kind != ExprKind::kCall || user.callee || !user.type || !user.type->IsTensor() ||
        user.type->tensor.shape != value.type->tensor.shape) {
      return false;
    }
    const ops::Op* op = ops::FindOp(user.name);
    if (op == nullptr || op->kind > ops::FuseKind::kBroadcast) return false;
    if (user.args.size() == 1) return true;
    if (user.args.size() != 2) return false;
    const Expr& other = user.args[0].get() == &value ? user.args[1] : user.args[0];
    if (!constant_.contains(other.get())) return false;
    const ir::TensorType& type = other->type->tensor;
    const std::vector<int64_t>& shape = value.type->tensor.shape;
    const auto axis = static_cast<size_t>(stackable_.channel_axis);
    if (type.shape.size() + axis < shape.size() || type.shape.size() > shape.size()) return false;
    const size_t missing = shape.size() - type.shape.size();
    for (size_t i = 0; i < type.shape.size(); ++i) {
      if (type.shape[i] != (missing + i == axis ? shape[axis] : 1)) return false;
    }
    return true;
  }

  static bool AreAlike(const ir::ExprNode& a, const ir::ExprNode& b, size_t slot) {
    if (a.name != b.name || a.attrs != b.attrs || a.args.size() != b.args.size()) return false;
    if (a.args.size() == 1) return true;
    const ir::TensorType& x = a.args[1 - slot]->type->tensor;
    const ir::TensorType& y = b.args[1 - slot]->type->tensor;
    return x.dtype == y.dtype && x.shape.size() == y.shape.size();
  }

  Expr Visit(const Expr& node, const ir::NodeMap<Expr>& done) {
    if (node->kind == ExprKind::kFunction && node != function_) return node;
    const auto group = group_of_end_.find(node.get());
    if (group != group_of_end_.end()) return SliceOf(groups_[group->second], node, done);
    return ir::WithOperandsOf(node, done);
  }

  Expr SliceOf(Group& group, const Expr& end, const ir::NodeMap<Expr>& done) const {
    if (!group.combined) group.combined = Build(group, done.at(group.calls[0]->args[0].get()));
    const auto axis = static_cast<size_t>(stackable_.channel_axis);
    int64_t begin = 0;
    for (const Expr& other : group.Ends()) {
      const int64_t extent = other->type->tensor.shape[axis];
      if (other == end) {
        return ir::Call("strided_slice", {group.combined},
                        {{"axes", std::vector<int64_t>{stackable_.channel_axis}},
                         {"begin", std::vector<int64_t>{begin}},
                         {"end", std::vector<int64_t>{begin + extent}}});
      }
      begin += extent;
    }
    return nullptr;  // ends are in their group
  }

  Expr Build(const Group& group, const Expr& data) const {
    Expr value = ir::Call(stackable_.op, {data, Stack(group.calls, 1, 0)},
                          AttrsWithoutChannels(*group.calls[0]));
    for (const Step& step : group.steps) {
      const ir::ExprNode& first = *step.calls[0];
      std::vector<Expr> args(first.args.size());
      args[args.size() == 1 ? 0 : step.slot] = value;
      if (args.size() == 2) {
        const size_t other = 1 - step.slot;
        const auto missing = static_cast<int64_t>(first.type->tensor.shape.size() -
                                                  first.args[other]->type->tensor.shape.size());
        args[other] = Stack(step.calls, other, stackable_.channel_axis - missing);
      }
      value = ir::Call(first.name, std::move(args), first.attrs);
    }
    return value;
  }

  // Operand `slot` of all calls, one after the other along `axis`.
  static Expr Stack(const std::vector<Expr>& calls, size_t slot, int64_t axis) {
    std::vector<Expr> parts;
    for (const Expr& call : calls) parts.push_back(call->args[slot]);
    return ir::Call("concatenate", {ir::Tuple(std::move(parts))}, {{"axis", axis}});
  }

  const Expr& function_;
  const Stackable& stackable_;
  const int min_siblings_;
  std::vector<Expr> order_;
  ir::NodeMap<std::vector<Expr>> users_;
  ir::NodeSet constant_;
  std::vector<Group> groups_;
  ir::NodeMap<size_t> group_of_end_;
};

}  // namespace

Expr CombineSiblings(const Expr& function, const Stackable& stackable, int min_siblings) {
  return Combiner(function, stackable, min_siblings).Run();
}

}  // namespace hone::passes
