#include "cli/kernel_notes.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/driver/kernel_graph.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "support/status.h"

namespace hone::cli {
namespace {

using Key = std::pair<std::string, std::string>;  // workload digest, signature

bool IsSignedKernel(const ir::Expr& e) {
  return e->kind == ir::ExprKind::kCall && e->callee && e->callee->attrs.contains("signature");
}

bool HasKernels(const ir::Module& module) {
  const auto main = module.functions.find("main");
  if (main == module.functions.end()) return false;
  const std::vector<ir::Expr> nodes = ir::PostOrderOutside(main->second);
  return std::any_of(nodes.begin(), nodes.end(), IsSignedKernel);
}

Key KeyOf(const ir::Expr& call) {
  std::vector<bool> const_params;
  for (const ir::Expr& arg : call->args) {
    const_params.push_back(arg->kind == ir::ExprKind::kConstant);
  }
  return {ops::WorkloadOf(call->callee, const_params).digest,
          ir::GetAttr<std::string>(call->callee->attrs, "signature", "")};
}

}  // namespace

absl::StatusOr<picture::KernelNotes> NotesOf(const ir::Module& module, const Target& target,
                                             driver::ConfigChain& configs) {
  if (!HasKernels(module)) return picture::KernelNotes();
  HONE_ASSIGN_OR_RETURN(const driver::KernelGraph graph, driver::BuildKernelGraph(module));
  std::vector<int64_t> drawn(graph.kernels.size(), 0);  // calls of each: one of a repeat is one
  for (const driver::KernelCall& call : graph.specialisations[0].calls) ++drawn[call.kernel];
  struct Choice {
    std::string tier;
    double ns = 0;  // of what a call that is drawn stands for
  };
  std::map<Key, Choice> choices;
  double total_ns = 0;
  bool all_measured = true;
  for (size_t k = 0; k < graph.kernels.size(); ++k) {
    const driver::Kernel& kernel = graph.kernels[k];
    const schedule::Task task{
        .def = kernel.def.get(), .signature = kernel.signature, .target = target};
    HONE_ASSIGN_OR_RETURN(const driver::ConfigChain::Scheduled scheduled, configs.Schedule(task));
    const double ns = scheduled.choice.best_ns * static_cast<double>(kernel.calls);
    total_ns += ns;
    all_measured = all_measured && ns > 0;
    choices[{kernel.def->workload.digest, kernel.signature.ToString()}] = {
        scheduled.choice.tier, ns / static_cast<double>(std::max<int64_t>(drawn[k], 1))};
  }
  return [=](const ir::Expr& call) -> std::optional<picture::KernelNote> {
    const auto found = choices.find(KeyOf(call));
    if (found == choices.end()) return std::nullopt;
    picture::KernelNote note{.tier = found->second.tier, .share = std::nullopt};
    if (all_measured) note.share = found->second.ns / total_ns;
    return note;
  };
}

}  // namespace hone::cli
