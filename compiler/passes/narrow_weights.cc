#include "compiler/passes/narrow_weights.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/passes/known_values.h"
#include "compiler/passes/narrow_matrix.h"
#include "compiler/passes/numerics.h"
#include "compiler/passes/rewriting.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;

bool IsFloatMatrix(const Expr& e) {
  const ir::TensorType& type = e->type->tensor;
  return type.dtype == DataType::kFloat32 && type.shape.size() == 2;
}

// Making digits of the data takes as long as 96 units gain by them (measured on Zen 4: 1.5 cycles
// a number, against 1/64 of a cycle for each unit).
constexpr int64_t kFewestUnits = 128;

class Narrowing {
 public:
  explicit Narrowing(const PassContext& context)
      : target_(context.target),
        machine_(machine::Machine::For(context.target)),
        values_(context.evaluator) {}

  Expr Apply(const Expr& function) {
    const std::optional<ops::Numerics> numerics = NumericsOf(function);
    if (numerics == ops::Numerics::kStrict) return function;
    if (MultipliesMixedBytes(target_)) {
      digits_ = numerics == ops::Numerics::kFast ? NarrowProducts::kTwoDigits
                                                 : NarrowProducts::kThreeDigits;
    }
    narrow_.clear();
    return RewriteCounted(function, [this](const Expr& node, const UsedOnce& used_once) {
      return ir::IsCall(node, "nn.dense") ? Narrowed(node, used_once) : node;
    });
  }
  const absl::Status& error() const { return values_.error(); }

 private:
  // As products of digits, or, where those are not to be had, of floats; nullopt: neither.
  std::optional<NarrowMatrix> NarrowOf(const Expr& weight, int64_t rows,
                                       const UsedOnce& used_once) {
    if (digits_ != NarrowProducts::kFloats && weight->type->tensor.shape[0] >= kFewestUnits) {
      auto narrow = NarrowMatrixOf(weight, digits_, used_once, &values_);
      if (narrow) return narrow;
    }
    // For several rows, floats that the second cache keeps are read as fast as they are multiplied.
    const bool stays = 2 * weight->type->tensor.SizeBytes() <= machine_.memory.l2.size_bytes;
    if (!WaitsForWeights(rows, machine_) || (rows > 1 && stays)) return std::nullopt;
    return NarrowMatrixOf(weight, NarrowProducts::kFloats, used_once, &values_);
  }

  Expr Narrowed(const Expr& dense, const UsedOnce& used_once) {
    constexpr int64_t kSmallBytes = 1 << 16;  // such constants are folded anyway
    const Expr& data = dense->args[0];
    const Expr& weight = dense->args[1];
    if (!IsFloatMatrix(dense) || !IsFloatMatrix(data) || !IsFloatMatrix(weight) ||
        IsConstant(data) || weight->type->tensor.shape[0] < 2 ||
        weight->type->tensor.SizeBytes() <= kSmallBytes) {
      return dense;
    }
    const int64_t rows = data->type->tensor.shape[0];
    auto [it, is_new] = narrow_.try_emplace({weight.get(), rows});
    if (is_new) {
      it->second = NarrowOf(weight, rows, used_once);
      kept_.push_back(weight);
    }
    const std::optional<NarrowMatrix>& narrow = it->second;
    if (!narrow) return dense;
    std::vector<Expr> args = {data, narrow->integers, narrow->scales};
    if (narrow->offsets) args.push_back(narrow->offsets);
    const Expr product = MakeTyped("nn.scaled_dense", std::move(args),
                                   {{"bits", narrow->bits},
                                    {"centre", narrow->centre},
                                    {"digits", static_cast<int64_t>(narrow->products)}});
    return product ? product : dense;
  }

  const Target& target_;
  const machine::Machine machine_;
  NarrowProducts digits_ = NarrowProducts::kFloats;  // kFloats: the target has none
  KnownValues values_;
  // The narrow form by the weight, which `kept_` keeps alive, and the number of rows.
  std::map<std::pair<const ir::ExprNode*, int64_t>, std::optional<NarrowMatrix>> narrow_;
  std::vector<Expr> kept_;
};

}  // namespace

bool WaitsForWeights(int64_t rows, const machine::Machine& machine) {
  constexpr double kUnpacking = 2;  // operations
  const double computing =
      (static_cast<double>(rows) + kUnpacking) / machine.issue.multiply_adds_a_cycle;
  return computing <
         static_cast<double>(machine.vector.size_bytes) / machine.memory.l3.read_bytes_a_cycle;
}

bool MultipliesMixedBytes(const Target& target) {
  const CpuTarget* const cpu = target.AsCpu();
  return cpu != nullptr && (cpu->Has("avx512vnni") || cpu->Has("avxvnni") || cpu->Has("i8mm"));
}

absl::StatusOr<ir::Module> NarrowWeights(const ir::Module& module, const PassContext& context) {
  if (!context.evaluator) return module;
  Narrowing narrowing(context);
  ir::Module result =
      MapFunctions(module, [&](const Expr& function) { return narrowing.Apply(function); });
  HONE_RETURN_IF_ERROR(narrowing.error());
  return result;
}

}  // namespace hone::passes
