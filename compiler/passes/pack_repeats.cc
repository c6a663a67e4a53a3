#include "compiler/passes/pack_repeats.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/node_map.h"
#include "compiler/ops/call_type.h"
#include "compiler/ops/repeat.h"
#include "compiler/passes/rewriting.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using Shape = std::vector<int64_t>;

// The fields of each repeat that something reads.
ir::NodeMap<std::set<int64_t>> FieldsRead(const Expr& function) {
  ir::NodeMap<std::set<int64_t>> read;
  for (const Expr& node : ir::PostOrderOutside(function)) {
    for (const Expr& arg : node->args) {
      if (!ops::IsRepeat(*arg)) continue;
      std::set<int64_t>& fields = read[arg.get()];
      if (node->kind == ExprKind::kTupleGetItem) {
        fields.insert(node->index);
      } else {
        for (size_t i = 0; i < arg->type->fields.size(); ++i) {
          fields.insert(static_cast<int64_t>(i));
        }
      }
    }
  }
  return read;
}

Expr Field(const Expr& tuple, size_t i) {
  if (tuple->kind == ExprKind::kTuple) return tuple->args[i];
  return ir::WithType(ir::TupleGetItem(tuple, static_cast<int64_t>(i)), tuple->type->fields[i]);
}

// One repeat. All has types.
class Packer {
 public:
  Packer(const Expr& call, const Expr& function, const std::set<int64_t>& read)
      : call_(call), function_(function), read_(read), repeat_(ops::RepeatOf(*call)) {
    for (const Expr& node : ir::PostOrder(ir::Body(*function))) used_.insert(node.get());
    packed_.trips = repeat_.trips;
    packed_.states = repeat_.states;
    packed_.rows = true;
  }

  void Run() {
    AddOperands();
    const Expr& body = ir::Body(*function_);
    const auto states = static_cast<size_t>(repeat_.states);
    std::vector<Expr> results;
    for (size_t i = 0; i < body->type->fields.size(); ++i) {
      const bool is_state = i < states;
      if (!is_state && !read_.contains(static_cast<int64_t>(i))) continue;
      kept_.push_back(i);
      results.push_back(Field(body, i));
      if (is_state) continue;
      const size_t stack = static_cast<size_t>(repeat_.slices) + i - states;
      packed_.backwards.push_back(repeat_.IsBackwards(stack) ? 1 : 0);
    }
    Expr result = ops::TypedTuple(std::move(results));
    if (!constants_.empty()) {
      result = ir::Rewrite(result, [&](const Expr& node) -> Expr {
        const auto found = constants_.find(node.get());
        return found == constants_.end() ? node : found->second;
      });
    }
    result = MoveOut(result);
    LeaveOutUnread(result);
    body_ = ops::TypedFunction(params_, std::move(result), function_->attrs);
  }

  const Expr& body() const { return body_; }

  // What stands for the call: a tuple of its fields as they were.
  absl::StatusOr<Expr> Value() const {
    std::vector<ir::Type> types;
    for (const Expr& arg : args_) {
      if (!arg) {
        return absl::InvalidArgumentError(
            "a repeat: rows were expected that can be addressed once they are whole multiples of "
            "64 bytes, found more of them");
      }
      types.push_back(*arg->type);
    }
    HONE_ASSIGN_OR_RETURN(ir::Type type, ops::RepeatType(packed_, ir::ValueType(*body_), types));
    const Expr packed = ir::WithType(ir::CallFunction(call_->callee, args_, ops::AttrsOf(packed_)),
                                     std::move(type));
    std::vector<Expr> fields;
    size_t next = 0;
    for (size_t i = 0; i < call_->type->fields.size(); ++i) {
      if (next == kept_.size() || kept_[next] != i) {
        fields.push_back(ops::TypedTuple({}));  // nobody reads it
        continue;
      }
      const Expr field = Field(packed, next++);
      fields.push_back(static_cast<int64_t>(i) < repeat_.states ? field : Unpacked(field, i));
    }
    return ops::TypedTuple(std::move(fields));
  }

 private:
  // What is the same in all trips - made of shared operands, or of constants that FoldConstant left
  // because they grow - is computed once, in front of the repeat, and is a shared operand of it.
  Expr MoveOut(const Expr& result) {
    const ir::NodeSet varying = Varying(result);
    ir::NodeMap<Expr> stands_for;
    for (size_t i = static_cast<size_t>(repeat_.states + packed_.slices); i < params_.size(); ++i) {
      stands_for[params_[i].get()] = args_[i];
    }
    ir::NodeMap<Expr> moved;
    for (const Expr& node : ir::PostOrderOutside(result)) {
      if (!varying.contains(node.get())) continue;
      for (const Expr& arg : node->args) MoveOut(arg, varying, stands_for, moved);
    }
    ir::NodeMap<Expr> done;
    for (const Expr& node : ir::PostOrderOutside(result)) {
      const auto param = moved.find(node.get());
      done[node.get()] = param == moved.end() ? ir::WithOperandsOf(node, done) : param->second;
    }
    return done.at(result.get());
  }

  // Shared operands of which only what moved out was made.
  void LeaveOutUnread(const Expr& result) {
    ir::NodeSet read;
    for (const Expr& node : ir::PostOrderOutside(result)) read.insert(node.get());
    for (size_t i = params_.size(); i > static_cast<size_t>(repeat_.states + packed_.slices); --i) {
      if (read.contains(params_[i - 1].get())) continue;
      params_.erase(params_.begin() + static_cast<ptrdiff_t>(i - 1));
      args_.erase(args_.begin() + static_cast<ptrdiff_t>(i - 1));
    }
  }

  void MoveOut(const Expr& node, const ir::NodeSet& varying, const ir::NodeMap<Expr>& stands_for,
               ir::NodeMap<Expr>& moved) {
    if (varying.contains(node.get()) || moved.contains(node.get())) return;
    if (node->kind == ExprKind::kTuple) {
      for (const Expr& field : node->args) MoveOut(field, varying, stands_for, moved);
      return;
    }
    const bool is_computed = node->kind == ExprKind::kCall || node->kind == ExprKind::kTupleGetItem;
    if (!is_computed || node->type->is_tuple) return;
    const Expr param = ir::Var(FreshName(), *node->type);
    params_.push_back(param);
    args_.push_back(ir::Rewrite(node, [&](const Expr& e) { return FoundOr(stands_for, e); }));
    moved[node.get()] = param;
  }

  // The results, and all that depends on a state or a slice, or is none of the plain kinds.
  ir::NodeSet Varying(const Expr& result) const {
    ir::NodeSet varying;
    for (size_t i = 0; i < static_cast<size_t>(repeat_.states + packed_.slices); ++i) {
      varying.insert(params_[i].get());
    }
    for (const Expr& node : ir::PostOrderOutside(result)) {
      const bool is_plain = node->kind == ExprKind::kVar || node->kind == ExprKind::kConstant ||
                            node->kind == ExprKind::kTuple ||
                            node->kind == ExprKind::kTupleGetItem ||
                            (node->kind == ExprKind::kCall && !node->callee);
      const bool varies = !is_plain || std::ranges::any_of(node->args, [&](const Expr& arg) {
        return varying.contains(arg.get());
      });
      if (varies) varying.insert(node.get());
    }
    varying.insert(result.get());
    return varying;
  }

  static Expr FoundOr(const ir::NodeMap<Expr>& map, const Expr& node) {
    const auto found = map.find(node.get());
    return found == map.end() ? node : found->second;
  }

  std::string FreshName() const {
    for (size_t i = params_.size();; ++i) {
      std::string name = "shared" + std::to_string(i);
      const auto has_it = [&](const Expr& param) { return param->name == name; };
      if (std::ranges::none_of(ir::Params(*function_), has_it)) return name;
    }
  }

  void AddOperands() {
    const std::vector<Expr> params = ir::Params(*function_);
    for (size_t i = 0; i < params.size(); ++i) {
      const Expr& arg = call_->args[i];
      const bool is_state = static_cast<int64_t>(i) < repeat_.states;
      const int64_t slice = static_cast<int64_t>(i) - repeat_.states;
      const bool is_slice = !is_state && slice < repeat_.slices;
      if (!is_state && !used_.contains(params[i].get())) continue;
      if (is_state) {
        args_.push_back(IsConstant(arg) ? MakeTyped("copy", {arg}) : arg);
      } else if (is_slice) {
        args_.push_back(Rows(arg, params[i]->type->tensor));
        packed_.backwards.push_back(repeat_.IsBackwards(static_cast<size_t>(slice)) ? 1 : 0);
        ++packed_.slices;
      } else if (IsConstant(arg)) {
        constants_[params[i].get()] = arg;
        continue;
      } else {
        args_.push_back(arg);
      }
      params_.push_back(params[i]);
    }
  }

  Expr Rows(const Expr& arg, const ir::TensorType& row) const {
    if (repeat_.rows) return IsConstant(arg) ? MakeTyped("copy", {arg}) : arg;
    const int64_t elements = row.ElementCount();
    const int64_t padded = ops::RowElements(row);
    const bool is_flat = arg->type->tensor.shape.size() == 2;
    Expr rows = is_flat ? arg : Reshape(arg, {repeat_.trips, elements});
    if (padded > elements) {
      return MakeTyped("nn.pad", {rows}, {{"pad_width", Shape{0, 0, 0, padded - elements}}});
    }
    return IsConstant(rows) ? MakeTyped("copy", {rows}) : rows;
  }

  Expr Unpacked(Expr rows, size_t field) const {
    if (repeat_.rows) return rows;
    const ir::TensorType& row = ir::Body(*function_)->type->fields[field].tensor;
    const int64_t elements = row.ElementCount();
    if (ops::RowElements(row) > elements) {
      rows = MakeTyped("strided_slice", {rows},
                       {{"begin", Shape{0, 0}}, {"end", Shape{repeat_.trips, elements}}});
    }
    return Reshape(rows, call_->type->fields[field].tensor.shape);
  }

  const Expr& call_;
  const Expr& function_;
  const std::set<int64_t>& read_;
  const ops::Repeat repeat_;
  ops::Repeat packed_;
  ir::NodeSet used_;
  std::vector<Expr> args_;
  std::vector<Expr> params_;
  ir::NodeMap<Expr> constants_;  // what parameters stand for
  std::vector<size_t> kept_;     // fields of the call
  Expr body_;
};

}  // namespace

absl::StatusOr<ir::Module> PackRepeats(const ir::Module& module, const PassContext&) {
  ir::Module result = module;
  const auto main = result.functions.find("main");
  if (main == result.functions.end()) return result;
  auto read = FieldsRead(main->second);
  ir::NodeMap<Expr> done;
  for (const Expr& node : ir::PostOrderOutside(main->second)) {
    Expr now = node;
    if (node->kind != ExprKind::kFunction || node == main->second) {
      now = ir::WithOperandsOf(node, done);
    }
    if (now->kind == ExprKind::kTupleGetItem) {
      now = Field(now->args[0], static_cast<size_t>(now->index));
    }
    if (ops::IsRepeat(*node)) {
      const std::string& name = node->callee->name;
      Packer packer(now, module.functions.at(name), read[node.get()]);
      packer.Run();
      HONE_ASSIGN_OR_RETURN(now, packer.Value());
      result.functions[name] = packer.body();
    }
    done[node.get()] = std::move(now);
  }
  main->second = done.at(main->second.get());
  return result;
}

}  // namespace hone::passes
