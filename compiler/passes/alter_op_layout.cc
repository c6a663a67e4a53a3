#include "compiler/passes/alter_op_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "compiler/ops/op.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LayoutSignature;

Layout RowMajorOf(const ir::TensorType& type) {
  return Layout::RowMajor(static_cast<int>(type.shape.size()));
}

double Bytes(const Layout& layout, const ir::TensorType& type) {
  return static_cast<double>(layout.ElementCount(type.shape)) * SizeBytes(type.dtype);
}

// More than half of the memory would be padding.
bool IsMostlyPadding(const Layout& layout, const ir::TensorType& type) {
  return Bytes(layout, type) >= 2 * static_cast<double>(type.SizeBytes());
}

bool IsKernelCall(const Expr& e) {
  return e->kind == ExprKind::kCall && e->callee && IsPrimitive(e->callee);
}

// Convolutions and matrix products: complex operators of two operands. Pools move bytes as the
// rest.
bool IsComputeBound(const Expr& function) {
  for (const Expr& node : ir::PostOrder(ir::Body(*function))) {
    if (node->kind != ExprKind::kCall || node->callee) continue;
    const ops::Op* op = ops::FindOp(node->name);
    if (op != nullptr && op->kind == ops::FuseKind::kComplex && node->args.size() >= 2) return true;
  }
  return false;
}

// A kernel call of main, and what its template offers.
struct Kernel {
  std::vector<Expr> operands;  // those that are not constant
  std::vector<LayoutSignature> candidates;
  bool is_compute_bound = false;
};

Kernel MakeKernel(const Expr& call, const PassContext& context) {
  Kernel kernel;
  std::vector<bool> const_params;
  LayoutSignature row_major;
  for (const Expr& arg : call->args) {
    const_params.push_back(IsConstant(arg));
    if (IsConstant(arg)) continue;
    kernel.operands.push_back(arg);
    row_major.operands.push_back(RowMajorOf(arg->type->tensor));
  }
  for (const ir::TensorType& type : TensorsOf(*call->type)) {
    row_major.results.push_back(RowMajorOf(type));
  }
  kernel.is_compute_bound = IsComputeBound(call->callee);
  // Kernels of several results stay row-major: a value then has one layout.
  if (context.signatures && !call->type->is_tuple) {
    kernel.candidates = context.signatures(call->callee, const_params, context.target);
  }
  std::erase_if(kernel.candidates, [&](const LayoutSignature& signature) {
    return signature.operands.size() != row_major.operands.size() ||
           signature.results.size() != row_major.results.size();
  });
  if (kernel.candidates.empty()) kernel.candidates.push_back(row_major);
  return kernel;
}

Expr WithSignature(const Expr& function, const LayoutSignature& signature) {
  ir::Attrs attrs = function->attrs;
  attrs["signature"] = signature.ToString();
  return ir::WithType(ir::Function(ir::Params(*function), ir::Body(*function), std::move(attrs)),
                      *ir::Body(*function)->type);
}

Expr Transform(const Expr& value, const Layout& from, const Layout& to) {
  const ir::Type& type = *value->type;
  const Expr param = ir::Var("p0", type);
  const Expr body =
      ir::WithType(ir::Call("layout_transform", {param},
                            {{"src_layout", from.ToString()}, {"dst_layout", to.ToString()}}),
                   type);
  const Expr function = WithSignature(
      ir::WithType(ir::Function({param}, body, {{"primitive", true}}), type), {{from}, {to}});
  return ir::WithType(ir::CallFunction(function, {value}), type);
}

// Chooses kernel by kernel, in execution order: each takes the signature that costs least given the
// layouts its operands have by then and what its consumers can read. Costs are bytes moved.
class LayoutChooser {
 public:
  LayoutChooser(const Expr& body, const PassContext& context)
      : body_(body), order_(ir::PostOrderOutside(body)) {
    for (const Expr& node : order_) {
      if (IsKernelCall(node)) kernels_[node.get()] = MakeKernel(node, context);
    }
    for (const Expr& node : order_) CountReaders(node);
    ++other_readers_[body.get()];
  }

  Expr Run() {
    for (const Expr& node : order_) {
      done_[node.get()] = IsKernelCall(node) ? VisitKernel(node) : VisitOther(node);
    }
    return InLayout(body_, nullptr);
  }

 private:
  void CountReaders(const Expr& node) {
    if (IsKernelCall(node)) {
      const Kernel& kernel = kernels_.at(node.get());
      for (size_t i = 0; i < kernel.operands.size(); ++i) {
        readers_[kernel.operands[i].get()].emplace_back(&kernel, i);
      }
      return;
    }
    for (const Expr& arg : node->args) ++other_readers_[arg.get()];
  }

  Layout LayoutOf(const Expr& value) const {
    const auto it = layouts_.find(value.get());
    return it == layouts_.end() ? RowMajorOf(value->type->tensor) : it->second;
  }

  // What stands for `value` in the result, in `layout` (row-major if null).
  Expr InLayout(const Expr& value, const Layout* layout) {
    const Expr& done = done_.at(value.get());
    if (value->type == nullptr || value->type->is_tuple) return done;
    const Layout from = LayoutOf(value);
    const Layout to = layout == nullptr ? RowMajorOf(value->type->tensor) : *layout;
    if (from == to) return done;
    Expr& copy = copies_[{value.get(), to.ToString()}];
    if (!copy) copy = Transform(done, from, to);
    return copy;
  }

  // The signature of a kernel decides what its operands become.
  Expr VisitKernel(const Expr& call) {
    const Kernel& kernel = kernels_.at(call.get());
    const LayoutSignature& signature = Choose(kernel, call);
    std::vector<Expr> args;
    size_t operand = 0;
    for (const Expr& arg : call->args) {
      args.push_back(IsConstant(arg) ? done_.at(arg.get())
                                     : InLayout(arg, &signature.operands[operand++]));
    }
    if (!call->type->is_tuple) layouts_[call.get()] = signature.results[0];
    return ir::WithOperands(call, WithSignature(call->callee, signature), std::move(args));
  }

  Expr VisitOther(const Expr& node) {
    if (node->kind == ExprKind::kFunction) return node;
    std::vector<Expr> args;
    for (const Expr& arg : node->args) args.push_back(InLayout(arg, nullptr));
    return ir::WithOperands(node, node->callee, std::move(args));
  }

  const LayoutSignature& Choose(const Kernel& kernel, const Expr& call) const {
    size_t best = 0;
    double best_cost = 0;
    for (size_t i = 0; i < kernel.candidates.size(); ++i) {
      // The order of preference speaks of the time in the kernel, which for convolutions is
      // worth several passes over the result, and for others decides between equals.
      const double weight = kernel.is_compute_bound
                                ? 4 * static_cast<double>(TensorsOf(*call->type)[0].SizeBytes())
                                : 1e-3;
      const double cost =
          CostOf(kernel, kernel.candidates[i], call) + weight * static_cast<double>(i);
      if (i == 0 || cost < best_cost) {
        best = i;
        best_cost = cost;
      }
    }
    return kernel.candidates[best];
  }

  double CostOf(const Kernel& kernel, const LayoutSignature& signature, const Expr& call) const {
    constexpr double kForbidding = 1e15;
    double cost = 0;
    for (size_t i = 0; i < kernel.operands.size(); ++i) {
      const Expr& value = kernel.operands[i];
      const Layout& wanted = signature.operands[i];
      if (LayoutOf(value) == wanted) continue;
      const ir::TensorType& type = value->type->tensor;
      if (IsMostlyPadding(wanted, type)) cost += kForbidding;  // few channels are read as they are
      if (copies_.contains({value.get(), wanted.ToString()})) continue;
      cost += Bytes(wanted, type) + Bytes(LayoutOf(value), type);
    }
    return call->type->is_tuple ? cost : cost + CostOfReaders(signature.results[0], call);
  }

  // Of the copies that readers will need which cannot read this layout.
  double CostOfReaders(const Layout& result, const Expr& call) const {
    const ir::TensorType& type = call->type->tensor;
    double cost = 0;
    if (other_readers_.contains(call.get()) && !result.IsRowMajor())
      cost += 2 * Bytes(result, type);
    const auto readers = readers_.find(call.get());
    if (readers == readers_.end()) return cost;
    for (const auto& [reader, operand] : readers->second) {
      const auto& candidates = reader->candidates;
      const bool readable = std::any_of(
          candidates.begin(), candidates.end(),
          [&, i = operand](const LayoutSignature& s) { return s.operands[i] == result; });
      if (!readable) cost += 2 * Bytes(result, type);
    }
    return cost;
  }

  const Expr body_;
  const std::vector<Expr> order_;
  std::unordered_map<const ir::ExprNode*, Kernel> kernels_;
  std::unordered_map<const ir::ExprNode*, std::vector<std::pair<const Kernel*, size_t>>> readers_;
  std::unordered_map<const ir::ExprNode*, int> other_readers_;
  std::unordered_map<const ir::ExprNode*, Layout> layouts_;  // of results that are not row-major
  std::unordered_map<const ir::ExprNode*, Expr> done_;
  std::map<std::pair<const ir::ExprNode*, std::string>, Expr> copies_;
};

}  // namespace

absl::StatusOr<ir::Module> AlterOpLayout(const ir::Module& module, const PassContext& context) {
  return MapFunctions(module, [&](const Expr& function) {
    std::vector<Expr> args = ir::Params(*function);
    args.push_back(LayoutChooser(ir::Body(*function), context).Run());
    return ir::WithOperands(function, nullptr, std::move(args));
  });
}

}  // namespace hone::passes
