#include "compiler/passes/widen_products.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/node_map.h"
#include "compiler/machine/machine.h"
#include "compiler/machine/tensor_cores.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/call_type.h"
#include "compiler/ops/op.h"
#include "compiler/ops/window.h"
#include "compiler/passes/numerics.h"
#include "compiler/passes/rewriting.h"
#include "compiler/passes/tensor_core_products.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Ints = std::vector<int64_t>;

bool Is(const Expr& e, DataType dtype) {
  return e->type->IsTensor() && e->type->tensor.dtype == dtype;
}

bool IsHalf(const Expr& e) { return Is(e, DataType::kFloat16) || Is(e, DataType::kBFloat16); }

bool IsProduct(const Expr& e) {
  static const auto* const names = new std::set<std::string, std::less<>>{
      "nn.conv1d",           "nn.conv2d",           "nn.conv3d", "nn.conv1d_transpose",
      "nn.conv2d_transpose", "nn.conv3d_transpose", "nn.dense",  "nn.batch_matmul"};
  return e->kind == ir::ExprKind::kCall && !e->callee && names->contains(e->name);
}

// Its template is one of float32.
bool IsPoolWithTemplate(const Expr& e) {
  if (e->kind != ir::ExprKind::kCall || e->callee || e->name.ends_with("_indices")) return false;
  return e->name.starts_with("nn.max_pool") || e->name.starts_with("nn.avg_pool") ||
         e->name.starts_with("nn.global_max_pool") || e->name.starts_with("nn.global_avg_pool");
}

bool IsConv(const Expr& product) { return product->name.starts_with("nn.conv"); }

bool IsTransposed(const Expr& product) { return product->name.ends_with("_transpose"); }

int64_t GroupsOf(const Expr& product) {
  return IsConv(product) ? ops::IntAttr(product->attrs, "groups", 1) : 1;
}

bool IsDepthwise(const Expr& product) {
  const int64_t groups = GroupsOf(product);
  return groups > 1 && groups == ShapeOf(product->args[0])[1] &&
         groups == ShapeOf(product->args[1])[0];
}

// How many times an element of the right operand is multiplied, that of a convolution's in the
// middle of its data.
int64_t UsesOfRight(const Expr& product) {
  const Ints& data = ShapeOf(product->args[0]);
  if (product->name == "nn.batch_matmul") {
    return data[1] * (ShapeOf(product->args[1])[0] == 1 ? data[0] : 1);
  }
  if (!IsConv(product)) return data[0];
  const Ints& positions = IsTransposed(product) ? data : ShapeOf(product);
  int64_t uses = positions[0];
  for (size_t axis = 2; axis < positions.size(); ++axis) uses *= positions[axis];
  return uses;
}

// Whether it is a convolution that Winograd's algorithm makes of fewer products where its weights
// are constant, and at a size where these are most of the time.
bool HasFewerProducts(const Expr& product) {
  if (product->name != "nn.conv2d" && product->name != "nn.conv3d") return false;
  if (GroupsOf(product) != 1) return false;
  constexpr int64_t kFewestChannels = 32;
  constexpr int64_t kSmallestMap = 8;
  const Ints& weight = ShapeOf(product->args[1]);
  const Ints& result = ShapeOf(product);
  const Ints taps(weight.begin() + 2, weight.end());
  const absl::StatusOr<ops::Window> window = ops::ReadWindow(product->name, product->attrs, taps);
  if (!window.ok()) return false;
  for (const size_t axis : {taps.size() - 2, taps.size() - 1}) {
    if (taps[axis] != 3 || result[axis + 2] < kSmallestMap) return false;
    if (window->strides[axis] != 1 || window->dilation[axis] != 1) return false;
  }
  return std::min(weight[0], weight[1]) >= kFewestChannels;
}

// Whether tile registers multiply products of this kind: of matrices of several rows, or of
// convolutions of one group and several columns.
bool FitsTiles(const Expr& product) {
  const Ints& result = ShapeOf(product);
  if (!IsConv(product)) return result[result.size() - 2] > 1;
  return !IsTransposed(product) && GroupsOf(product) == 1 && result.back() > 1;
}

// The terms of a product that are neighbours for tensor cores.
int64_t NeighbouringTerms(const Expr& product) {
  const Ints& data = ShapeOf(product->args[0]);
  return IsConv(product) ? data[1] : data.back();
}

// How many products of its 16-bit type kernels make of this kind in the time of one of float32
// (docs/decisions/0013-16-bit-floats.md).
double HalfRate(const Expr& product, const Target& target) {
  // Tensor cores of current GPUs, beside their multiply-adds.
  constexpr double kTensorCoreRate = 8;
  const DataType dtype = product->args[0]->type->tensor.dtype;
  const bool has_cores = machine::TensorCores::Of(target).Takes(dtype);
  if (has_cores && FitsTensorCores(product, NeighbouringTerms(product))) return kTensorCoreRate;
  // Elsewhere there are no kernels of float16 but the generic ones.
  if (dtype == DataType::kFloat16) return 1;
  const auto machine = machine::Machine::For(target);
  if (FitsTiles(product) && machine.matrix.takes_bfloat16) return machine.matrix.bfloat16_rate;
  // Pairs are neighbours in the data where its blocks are of one group.
  const int64_t in = ShapeOf(product->args[0])[1] / GroupsOf(product);
  const bool has_dots = GroupsOf(product) == 1 || in % machine.vector.FloatLanes() == 0;
  return has_dots ? machine.issue.bfloat16_dot_rate : 1;
}

// Rewrites one function from its inputs to its results.
class Widening {
 public:
  Widening(const Target& target, bool is_strict) : target_(target), is_strict_(is_strict) {}

  Expr Visit(const Expr& node, const UsedOnce& used_once) {
    Expr widened;
    if (IsProduct(node) || IsPoolWithTemplate(node)) {
      widened = InFloat32(node);
    } else if (!is_strict_ && WorksOnElements(node)) {
      widened = OnSums(node, used_once);
    }
    if (widened) return widened;
    if (IsConstantExpression(node)) constant_.insert(node.get());
    return node;
  }

 private:
  Expr InFloat32(const Expr& call) {
    if (!IsHalf(call->args[0]) || !IsFasterWide(call)) return nullptr;
    std::vector<Expr> args;
    for (const Expr& arg : call->args) args.push_back(Wide(arg));
    ir::Attrs attrs = call->attrs;
    attrs.erase("out_dtype");
    return Narrowed(MakeTyped(call->name, std::move(args), std::move(attrs)),
                    call->type->tensor.dtype);
  }

  bool IsFasterWide(const Expr& call) const {
    const bool is_float16 = Is(call->args[0], DataType::kFloat16);
    if (IsPoolWithTemplate(call)) return is_float16;
    // With fewer uses, the time is that of reading the operand, in float32 twice as long.
    constexpr int64_t kFewestUses = 8;
    if (!is_float16 && (IsDepthwise(call) || UsesOfRight(call) < kFewestUses)) return false;
    // What tuned kernels make of Winograd's algorithm.
    constexpr double kWinogradGain = 2.5;
    const bool has_fewer =
        !is_strict_ && constant_.contains(call->args[1].get()) && HasFewerProducts(call);
    return (has_fewer ? kWinogradGain : 1) >= HalfRate(call, target_);
  }

  // What FoldConstant makes a constant, but for what is joined, or too large for it. Operands come
  // first, so theirs are known.
  bool IsConstantExpression(const Expr& node) const {
    if (node->kind != ir::ExprKind::kCall) return IsConstant(node);
    return !node->callee && !node->args.empty() &&
           std::ranges::all_of(node->args,
                               [&](const Expr& arg) { return constant_.contains(arg.get()); });
  }

  // A 16-bit float in float32. Of values that this made narrow, joined, each is widened: in its
  // kernel, where it is written to its place.
  Expr Wide(const Expr& e) const {
    const bool is_join = ir::IsCall(e, "concatenate") && e->args[0]->kind == ir::ExprKind::kTuple;
    if (!is_join) return Cast(e, DataType::kFloat32);
    std::vector<Expr> parts = e->args[0]->args;
    for (Expr& part : parts) {
      if (!narrowed_.contains(part.get())) return Cast(e, DataType::kFloat32);
      part = Cast(part, DataType::kFloat32);
    }
    return MakeTyped("concatenate", {ops::TypedTuple(std::move(parts))}, e->attrs);
  }

  // One operator of 16-bit floats whose results are as many as its operand's elements.
  static bool WorksOnElements(const Expr& node) {
    if (node->kind != ir::ExprKind::kCall || node->callee || !IsHalf(node)) return false;
    const ops::Op* op = ops::FindOp(node->name);
    return op != nullptr && op->kind <= ops::FuseKind::kBroadcast && node->name != "cast";
  }

  // `call` on sums that are still wide; nullptr where none of its operands is.
  Expr OnSums(const Expr& call, const UsedOnce& used_once) {
    const auto sums = std::find_if(call->args.begin(), call->args.end(), [&](const Expr& arg) {
      return narrowed_.contains(arg.get()) && used_once(arg) && ShapeOf(arg) == ShapeOf(call);
    });
    if (sums == call->args.end()) return nullptr;
    std::vector<Expr> args = call->args;
    for (Expr& arg : args) {
      if (arg == *sums) {
        arg = arg->args[0];
      } else if (IsHalf(arg)) {
        arg = Cast(arg, DataType::kFloat32);
      }
    }
    return Narrowed(MakeTyped(call->name, std::move(args), call->attrs), call->type->tensor.dtype);
  }

  Expr Narrowed(const Expr& wide, DataType dtype) {
    if (!wide || !Is(wide, DataType::kFloat32)) return nullptr;
    Expr narrow = Cast(wide, dtype);
    if (narrow != wide) narrowed_.insert(narrow.get());
    return narrow;
  }

  const Target& target_;
  const bool is_strict_;
  // RewriteCounted keeps these nodes.
  ir::NodeSet narrowed_;  // the casts this made
  ir::NodeSet constant_;
};

Expr WidenFunction(const Expr& function, const Target& target) {
  Widening widening(target, NumericsOf(function) == ops::Numerics::kStrict);
  return RewriteCounted(function, [&](const Expr& node, const UsedOnce& used_once) {
    return widening.Visit(node, used_once);
  });
}

}  // namespace

absl::StatusOr<ir::Module> WidenProducts(const ir::Module& module, const PassContext& context) {
  return MapFunctions(
      module, [&](const Expr& function) { return WidenFunction(function, context.target); });
}

}  // namespace hone::passes
