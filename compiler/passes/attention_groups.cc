#include "compiler/passes/attention_groups.h"

#include <algorithm>
#include <set>

#include "compiler/ir/node_map.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/reshape.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;

bool IsFloatCall(const Expr& node, const char* name) {
  return ir::IsCall(node, name) && IsFloat32(node);
}

bool IsFloatProduct(const Expr& node) {
  return IsFloatCall(node, "nn.batch_matmul") &&
         node->args[0]->type->tensor.dtype == DataType::kFloat32;
}

bool IsReshape(const Expr& node) {
  return node->kind == ir::ExprKind::kCall && !node->callee && ops::OnlyReshapes(node->name);
}

// Whether the last axes of both are the same rows and keys.
bool HaveSameRows(const Expr& a, const Expr& b) {
  const std::vector<int64_t>& x = ShapeOf(a);
  const std::vector<int64_t>& y = ShapeOf(b);
  return x.size() >= 2 && y.size() >= 2 && std::equal(x.end() - 2, x.end(), y.end() - 2);
}

bool IsOfKind(const Expr& node, ops::FuseKind most) {
  if (node->kind != ir::ExprKind::kCall || node->callee || node->type->is_tuple) return false;
  const ops::Op* op = ops::FindOp(node->name);
  return op != nullptr && op->kind <= most;
}

bool IsElementwise(const Expr& node) { return IsOfKind(node, ops::FuseKind::kBroadcast); }

bool IsMove(const Expr& node) {
  return MovesOrChooses(node) && IsOfKind(node, ops::FuseKind::kInjective);
}

class Joining {
 public:
  Joining(const std::vector<Expr>& nodes, const std::vector<FlowNode>& graph, int max_nodes,
          std::vector<int>* groups)
      : nodes_(nodes), graph_(graph), max_nodes_(max_nodes), groups_(*groups) {
    for (size_t i = 0; i < nodes.size(); ++i) number_[nodes[i].get()] = static_cast<int>(i);
  }

  void Run() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!IsFloatProduct(nodes_[i])) continue;
      way_ = {static_cast<int>(i)};
      if (LeadsToWeights(nodes_[i]->args[0], nodes_[i])) Join(groups_[i]);
    }
  }

 private:
  // A value of this function that one operator reads, once.
  bool IsReadOnce(const Expr& node) const {
    const auto number = number_.find(node.get());
    if (number == number_.end()) return false;
    const FlowNode& flow = graph_[number->second];
    return flow.edges.size() == 1 && !flow.escapes;
  }

  bool IsTooLong() const { return static_cast<int>(way_.size()) > max_nodes_; }

  // From the second product back to the softmax, and on to the first. What is on the way is noted.
  bool LeadsToWeights(const Expr& node, const Expr& second) {
    if (IsTooLong() || !IsReadOnce(node) || !HaveSameRows(node, second->args[0])) return false;
    way_.push_back(number_.at(node.get()));
    if (IsReshape(node)) return LeadsToWeights(node->args[0], second);
    if (!IsFloatCall(node, "nn.softmax")) return false;
    const auto rank = static_cast<int64_t>(ShapeOf(node).size());
    const int64_t axis = ops::IntAttr(node->attrs, "axis", -1);
    return (axis == -1 || axis == rank - 1) && LeadsToScores(node->args[0], second);
  }

  bool LeadsToScores(const Expr& node, const Expr& second) {
    if (IsTooLong() || !IsReadOnce(node) || !HaveSameRows(node, second->args[0])) return false;
    const size_t length = way_.size();
    way_.push_back(number_.at(node.get()));
    if (IsFloatProduct(node)) {
      const int64_t heads = ShapeOf(node)[0];
      return heads == ShapeOf(second)[0] && heads == ShapeOf(second->args[0])[0] &&
             node->args[1] != second->args[1];
    }
    if (IsReshape(node) && LeadsToScores(node->args[0], second)) return true;
    if (IsElementwise(node)) {
      for (const Expr& arg : node->args) {
        if (!arg->type->is_tuple && ShapeOf(arg) == ShapeOf(node) &&
            arg->type->tensor.dtype == DataType::kFloat32 && LeadsToScores(arg, second)) {
          return true;
        }
      }
    }
    way_.resize(length);
    return false;
  }

  void Join(int to) {
    std::set<int> joined;
    for (const int node : way_) joined.insert(groups_[node]);
    if (!Fits(joined)) return;
    for (const int product : {way_.back(), way_.front()}) {
      const Expr& operand = nodes_[product]->args[1];
      if (!IsReadOnce(operand)) continue;
      std::set<int> more = joined;
      more.insert(groups_[number_.at(operand.get())]);
      if (Fits(more)) joined = std::move(more);
    }
    for (int& group : groups_) group = joined.contains(group) ? to : group;
  }

  // Whether all that is in the groups beside the anchors is of the kinds that templates compute
  // where it is read, or as they pack a right operand: few operators, and floats behind the second
  // product. What a template does not take would be one slow kernel instead of three.
  bool Fits(const std::set<int>& joined) const {
    const std::set<int> anchors(way_.begin(), way_.end());
    const int last = groups_[way_.front()];
    constexpr int kMostBeside = 16;
    int count = 0;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!joined.contains(groups_[i])) continue;
      ++count;
      const bool fits =
          anchors.contains(static_cast<int>(i)) || IsElementwise(nodes_[i]) || IsMove(nodes_[i]);
      if (!fits || (groups_[i] == last && !IsFloat32(nodes_[i]))) return false;
    }
    return count <= std::min(max_nodes_, static_cast<int>(anchors.size()) + kMostBeside);
  }

  const std::vector<Expr>& nodes_;
  const std::vector<FlowNode>& graph_;
  const int max_nodes_;
  std::vector<int>& groups_;
  ir::NodeMap<int> number_;
  std::vector<int> way_;  // from the second product to the first
};

}  // namespace

void JoinAttention(const std::vector<Expr>& nodes, const std::vector<FlowNode>& graph,
                   int max_nodes, std::vector<int>* groups) {
  Joining(nodes, graph, max_nodes, groups).Run();
}

}  // namespace hone::passes
