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

// Whether it joins channels of one image.
bool JoinsChannels(const Expr& join) {
  if (!ir::IsCall(join, "concatenate") || join->args[0]->kind != ir::ExprKind::kTuple) return false;
  const std::vector<int64_t>& shape = join->type->tensor.shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = ops::IntAttr(join->attrs, "axis", 0);
  return shape.size() >= kLeastRank && (axis < 0 ? axis + rank : axis) == 1 && shape[0] == 1;
}

// What a group joins: where it joins what it joined, the parts of that.
void AddParts(const Expr& join, const ir::NodeSet& members, std::vector<Expr>& parts) {
  for (const Expr& part : join->args[0]->args) {
    if (members.contains(part.get()) && JoinsChannels(part)) {
      AddParts(part, members, parts);
    } else {
      parts.push_back(part);
    }
  }
}

// Whether each can be written where the whole lies, row-major and in blocks of `lanes` channels. A
// value has one place, and no kernel writes inputs and constants.
bool LieInWhole(const std::vector<Expr>& parts, int64_t lanes) {
  ir::NodeSet written;
  for (const Expr& part : parts) {
    if (part->kind != ir::ExprKind::kCall || !written.insert(part.get()).second) return false;
  }
  return std::all_of(parts.begin(), parts.end() - 1, [&](const Expr& part) {
    const ir::TensorType& type = part->type->tensor;
    return type.shape[1] % lanes == 0 && type.SizeBytes() % HONE_BUFFER_ALIGNMENT == 0;
  });
}

// The slices of a group that are better kernels of their own.
std::vector<const ir::ExprNode*> SlicesOf(const std::vector<Expr>& group, int64_t lanes) {
  if (group.size() < 2 || !JoinsChannels(group.back())) return {};
  ir::NodeSet members;
  std::vector<const ir::ExprNode*> slices;
  for (const Expr& member : group) {
    members.insert(member.get());
    if (JoinsChannels(member)) continue;
    if (!ir::IsCall(member, "strided_slice")) return {};
    slices.push_back(member.get());
  }
  std::vector<Expr> parts;
  AddParts(group.back(), members, parts);
  const auto is_part = [&](const ir::ExprNode* slice) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Expr& part) { return part.get() == slice; });
  };
  const bool apart = slices.size() < parts.size() && LieInWhole(parts, lanes) &&
                     std::all_of(slices.begin(), slices.end(), is_part);
  return apart ? slices : std::vector<const ir::ExprNode*>();
}

}  // namespace

void PartJoins(const std::vector<Expr>& nodes, int64_t lanes, std::vector<int>* groups) {
  std::unordered_map<int, std::vector<size_t>> members;
  for (size_t i = 0; i < nodes.size(); ++i) members[(*groups)[i]].push_back(i);
  for (const auto& [group, numbers] : members) {
    std::vector<Expr> calls;
    for (const size_t number : numbers) calls.push_back(nodes[number]);
    const std::vector<const ir::ExprNode*> slices = SlicesOf(calls, lanes);
    if (slices.empty()) continue;
    for (const size_t number : numbers) {
      const bool is_slice =
          std::find(slices.begin(), slices.end(), nodes[number].get()) != slices.end();
      (*groups)[number] = static_cast<int>(is_slice ? number : numbers.back());
    }
  }
}

}  // namespace hone::passes
