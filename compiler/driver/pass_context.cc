#include "compiler/driver/pass_context.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include "compiler/ops/lower.h"
#include "compiler/passes/evaluator.h"
#include "compiler/schedule/template.h"
#include "support/status.h"

namespace hone::driver {
namespace {

// Definitions of fused functions, by node. Nodes are kept, so that none is taken for another.
class Definitions {
 public:
  // nullptr: it cannot be lowered.
  std::shared_ptr<const ops::KernelDefinition> Of(const ir::Expr& function,
                                                  const std::vector<bool>& const_params) {
    const auto [it, is_new] = known_.try_emplace(function.get());
    if (is_new) {
      it->second.function = function;
      absl::StatusOr<ops::KernelDefinition> def = ops::Lower(function, const_params);
      if (def.ok()) {
        it->second.def = std::make_shared<const ops::KernelDefinition>(*std::move(def));
      }
    }
    return it->second.def;
  }

 private:
  struct Known {
    ir::Expr function;
    std::shared_ptr<const ops::KernelDefinition> def;
  };
  std::unordered_map<const ir::ExprNode*, Known> known_;
};

}  // namespace

passes::PassContext MakePassContext(const Target& target, ConfigChain* configs,
                                    passes::LayoutAim aim) {
  auto definitions = std::make_shared<Definitions>();
  passes::PassContext context{.target = target,
                              .evaluator = passes::DefaultEvaluator(),
                              .signatures = nullptr,
                              .measured = nullptr,
                              .layout_aim = aim};
  context.signatures = [definitions](const ir::Expr& function,
                                     const std::vector<bool>& const_params, const Target& target) {
    const auto def = definitions->Of(function, const_params);
    if (def == nullptr) return std::vector<ir::LayoutSignature>();
    const auto machine = machine::Machine::For(target);
    return schedule::TemplateFor(*def, machine).Signatures(*def, machine);
  };
  if (configs == nullptr) return context;
  if (aim == passes::LayoutAim::kSettled) {
    context.kept_layouts = [configs, target](const std::string& skeleton) {
      return configs->OpenModel(skeleton, target);
    };
  }
  context.expect = [definitions, configs, target](
                       const std::string& skeleton,
                       const std::vector<passes::KernelLayouts>& kernels) {
    std::vector<schedule::Task> tasks;
    for (const passes::KernelLayouts& kernel : kernels) {
      const auto def = definitions->Of(kernel.function, kernel.const_params);
      for (size_t i = 0; def != nullptr && i < kernel.signatures.size(); ++i) {
        tasks.push_back({.def = def.get(), .signature = kernel.signatures[i], .target = target});
      }
    }
    return configs->Expect(skeleton, target, tasks);
  };
  context.measured =
      [definitions, configs](
          const ir::Expr& function, const std::vector<bool>& const_params,
          const std::vector<ir::LayoutSignature>& signatures,
          const Target& target) -> absl::StatusOr<std::vector<std::optional<double>>> {
    std::vector<std::optional<double>> times(signatures.size());
    const auto def = definitions->Of(function, const_params);
    for (size_t i = 0; def != nullptr && i < signatures.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(
          times[i],
          configs->MeasuredNs({.def = def.get(), .signature = signatures[i], .target = target}));
    }
    return times;
  };
  return context;
}

}  // namespace hone::driver
