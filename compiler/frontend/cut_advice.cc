#include "compiler/frontend/cut_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/frontend/name_list.h"
#include "compiler/frontend/onnx/graph_builder.h"

namespace hone::frontend {
namespace {

// A tensor that is computed from graph inputs, and is none of these itself.
bool IsComputed(const ir::Expr& e) {
  if (!e->type->IsTensor() || e->kind == ir::ExprKind::kVar) return false;
  const std::vector<ir::Expr> nodes = ir::PostOrder(e);
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const ir::Expr& node) { return node->kind == ir::ExprKind::kVar; });
}

}  // namespace

std::vector<std::string> PlacesAmong(const std::vector<std::string>& names,
                                     absl::FunctionRef<ir::Expr(const std::string& name)> value) {
  constexpr size_t kMostPlaces = 12;
  constexpr size_t kMostLooks = 64;  // each takes the time of a walk through the model
  std::vector<std::string> places;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const ir::Expr e = value(name);
    if (!e || !seen.insert(name).second) continue;
    if (seen.size() > kMostLooks) return {};
    if (IsComputed(e)) places.push_back(name);
  }
  return places.size() > kMostPlaces ? std::vector<std::string>() : places;
}

absl::Status WithCutAdvice(const absl::Status& status, const std::vector<std::string>& places) {
  if (places.empty()) return status;
  std::string flags;
  for (const std::string& place : places) flags += " --cut " + ShellWord(place);
  return Reworded(status, fmt::format("{}; to leave that out, cut the model before it:{}",
                                      std::string(status.message()), flags));
}

}  // namespace hone::frontend
