#include "compiler/passes/pack_repeats.h"

#include <set>
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

Expr Reshape(const Expr& e, Shape shape) {
  return MakeTyped("reshape", {e}, {{"newshape", std::move(shape)}});
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
