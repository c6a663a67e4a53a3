#include "compiler/passes/join_groups.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/node_map.h"
#include "compiler/ops/attrs.h"
#include "runtime/module_abi.h"

namespace hone::passes {
namespace {

using ir::Expr;

constexpr size_t kLeastRank = 4;  // of feature maps: smaller tensors are not worth a launch

// Whether parts can be written where the whole lies, row-major and in blocks of `lanes` channels.
bool LiesInParts(const Expr& join, int64_t lanes) {
  const std::vector<int64_t>& shape = join->type->tensor.shape;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = ops::IntAttr(join->attrs, "axis", 0);
  if (axis < 0) axis += rank;
  const bool before_is_one =
      std::all_of(shape.begin(), shape.begin() + axis, [](int64_t extent) { return extent == 1; });
  if (shape.size() < kLeastRank || axis != 1 || !before_is_one) return false;
  const std::vector<Expr>& parts = join->args[0]->args;
  // A value has one place, and no kernel writes inputs and constants.
  ir::NodeSet written;
  for (const Expr& part : parts) {
    if (part->kind != ir::ExprKind::kCall || !written.insert(part.get()).second) return false;
  }
  return std::all_of(parts.begin(), parts.end() - 1, [&](const Expr& part) {
    const ir::TensorType& type = part->type->tensor;
    return type.shape[1] % lanes == 0 && type.SizeBytes() % HONE_BUFFER_ALIGNMENT == 0;
  });
}

// Of the members of a group: its last is a concatenation, and the others are slices that it reads.
bool JoinsSlices(const std::vector<Expr>& members) {
  const Expr& join = members.back();
  if (members.size() < 2 || !ir::IsCall(join, "concatenate") ||
      join->args[0]->kind != ir::ExprKind::kTuple) {
    return false;
  }
  const std::vector<Expr>& parts = join->args[0]->args;
  return members.size() - 1 < parts.size() &&
         std::all_of(members.begin(), members.end() - 1, [&](const Expr& member) {
           return ir::IsCall(member, "strided_slice") &&
                  std::find(parts.begin(), parts.end(), member) != parts.end();
         });
}

}  // namespace

void PartJoins(const std::vector<Expr>& nodes, int64_t lanes, std::vector<int>* groups) {
  std::unordered_map<int, std::vector<int>> members;
  for (size_t i = 0; i < nodes.size(); ++i) members[(*groups)[i]].push_back(static_cast<int>(i));
  for (const auto& [group, numbers] : members) {
    std::vector<Expr> calls;
    for (const int number : numbers) calls.push_back(nodes[static_cast<size_t>(number)]);
    if (!JoinsSlices(calls) || !LiesInParts(calls.back(), lanes)) continue;
    for (const int number : numbers) (*groups)[static_cast<size_t>(number)] = number;
  }
}

}  // namespace hone::passes
