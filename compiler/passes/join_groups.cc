#include "compiler/passes/join_groups.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "compiler/ir/node_map.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/typing.h"
#include "compiler/passes/rewriting.h"
#include "runtime/module_abi.h"

namespace hone::passes {
namespace {

using ir::Expr;

constexpr size_t kLeastRank = 4;  // of feature maps: smaller tensors are not worth a launch

bool IsJoin(const Expr& e) {
  return ir::IsCall(e, "concatenate") && e->args[0]->kind == ir::ExprKind::kTuple;
}

int64_t AxisOf(const Expr& join) {
  return ops::AxisFromFront(ops::IntAttr(join->attrs, "axis", 0), join->type->tensor.shape.size());
}

// Whether its parts are runs of memory.
bool JoinsRuns(const Expr& join) {
  const std::vector<int64_t>& shape = join->type->tensor.shape;
  return std::all_of(shape.begin(), shape.begin() + AxisOf(join),
                     [](int64_t extent) { return extent == 1; });
}

// Whether it joins channels of one image.
bool JoinsChannels(const Expr& join) {
  return join->type->tensor.shape.size() >= kLeastRank && AxisOf(join) == 1 && JoinsRuns(join);
}

// A group of concatenations, and slices that they read.
struct Join {
  std::vector<size_t> numbers;  // of its nodes, ascending
  std::vector<Expr> joins;
  ir::NodeSet slices;
  std::vector<Expr> parts;  // of the last concatenation; of those that it joins, their parts
};

// False where a member is joined twice: a value has one place. Where every concatenation joins the
// last one with itself, there would be twice the parts a step.
bool AddParts(const Expr& join, const ir::NodeSet& members, ir::NodeSet& seen,
              std::vector<Expr>& parts) {
  const std::vector<Expr>& fields = join->args[0]->args;
  return std::all_of(fields.begin(), fields.end(), [&](const Expr& part) {
    if (!IsJoin(part) || !members.contains(part.get())) {
      parts.push_back(part);
      return true;
    }
    return seen.insert(part.get()).second && AddParts(part, members, seen, parts);
  });
}

std::optional<Join> JoinOf(const std::vector<Expr>& nodes, std::vector<size_t> numbers) {
  const Expr& last = nodes[numbers.back()];
  if (!IsJoin(last)) return std::nullopt;
  Join join;
  ir::NodeSet members;
  for (const size_t number : numbers) {
    const Expr& member = nodes[number];
    members.insert(member.get());
    if (IsJoin(member)) {
      join.joins.push_back(member);
    } else if (ir::IsCall(member, "strided_slice")) {
      join.slices.insert(member.get());
    } else {
      return std::nullopt;
    }
  }
  ir::NodeSet seen;
  if (!AddParts(last, members, seen, join.parts)) return std::nullopt;
  // A slice of another join is among them: kernels would need each other's results.
  if (seen.size() + 1 != join.joins.size()) return std::nullopt;
  join.numbers = std::move(numbers);
  return join;
}

// The joins of all groups, in execution order.
std::vector<Join> JoinsOf(const std::vector<Expr>& nodes, const std::vector<int>& groups) {
  std::unordered_map<int, std::vector<size_t>> members;
  for (size_t i = 0; i < nodes.size(); ++i) members[groups[i]].push_back(i);
  std::vector<Join> joins;
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<size_t>& numbers = members.at(groups[i]);
    if (numbers.back() != i) continue;
    if (auto join = JoinOf(nodes, std::move(numbers))) joins.push_back(*std::move(join));
  }
  return joins;
}

// Whether each can be written where the whole lies. A value has one place, and no kernel writes
// inputs and constants.
bool CanMove(const std::vector<Expr>& parts, const ir::NodeSet& placed) {
  ir::NodeSet moved;
  return std::all_of(parts.begin(), parts.end(), [&](const Expr& part) {
    return part->kind == ir::ExprKind::kCall && !placed.contains(part.get()) &&
           moved.insert(part.get()).second;
  });
}

// Whether each part could begin where the one before ends: of channels, row-major as in blocks of
// `lanes`.
bool LieInOrder(const Join& join, int64_t lanes) {
  const bool in_blocks = std::any_of(join.joins.begin(), join.joins.end(), JoinsChannels);
  return std::all_of(join.parts.begin(), join.parts.end() - 1, [&](const Expr& part) {
    const ir::TensorType& type = part->type->tensor;
    return type.SizeBytes() % HONE_BUFFER_ALIGNMENT == 0 &&
           (!in_blocks || type.shape[1] % lanes == 0);
  });
}

// Whether the slices are better kernels of their own, where the parts can move.
bool PartsSlices(const Join& join, int64_t lanes) {
  const auto slices = std::count_if(join.parts.begin(), join.parts.end(), [&](const Expr& part) {
    return join.slices.contains(part.get());
  });
  return static_cast<size_t>(slices) == join.slices.size() && join.slices.size() > 0 &&
         join.slices.size() < join.parts.size() &&
         std::all_of(join.joins.begin(), join.joins.end(), JoinsChannels) &&
         LieInOrder(join, lanes);
}

}  // namespace

void PartJoins(const std::vector<Expr>& nodes, int64_t lanes, std::vector<int>* groups) {
  const std::vector<Join> joins = JoinsOf(nodes, *groups);
  ir::NodeSet placed = ResultsOf(nodes.back());
  const auto place = [&](const Join& join) {
    for (const Expr& part : join.parts) placed.insert(part.get());
  };
  // A part that is taken from one of these would have it copy all, where here a slice is.
  for (const Join& join : joins) {
    const bool is_view = join.slices.empty() &&
                         std::all_of(join.joins.begin(), join.joins.end(), JoinsRuns) &&
                         LieInOrder(join, lanes) && CanMove(join.parts, placed);
    if (is_view) place(join);
  }
  for (const Join& join : joins) {
    if (!PartsSlices(join, lanes) || !CanMove(join.parts, placed)) continue;
    place(join);
    for (const size_t number : join.numbers) {
      const bool is_slice = join.slices.contains(nodes[number].get());
      (*groups)[number] = static_cast<int>(is_slice ? number : join.numbers.back());
    }
  }
}

}  // namespace hone::passes
