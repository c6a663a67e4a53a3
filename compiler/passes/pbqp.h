// Partitioned boolean quadratic programming: chooses one alternative for each node of a graph so
// that the sum of the costs of all nodes and edges is least.
#ifndef HONE_COMPILER_PASSES_PBQP_H_
#define HONE_COMPILER_PASSES_PBQP_H_

#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace hone::passes {

// The cost of an alternative or pair that is not allowed.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

// Nodes of degree 0, 1 and 2 are reduced exactly. If only nodes of higher degree are left, that of
// the highest takes the alternative that is cheapest together with each neighbour's best.
// Deterministic: among equal costs the first alternative and the first node win. Takes n log n in
// nodes and linear time in edges.
class Pbqp {
 public:
  // Adds a node with at least one alternative and returns its number, counted from 0.
  int AddNode(std::vector<double> costs);
  void AddToNode(int node, const std::vector<double>& costs);
  // costs[i * alternatives of b + j] is the cost of alternative i of `a` with alternative j of `b`;
  // kNever: they must not be chosen together. `a` is not `b`. Costs of several edges between the
  // same pair add up.
  void AddEdge(int a, int b, std::vector<double> costs);

  struct Solution {
    std::vector<int> choice;  // an alternative for each node
    bool is_exact = true;     // false if a node was decided by the heuristic
  };
  // Called once.
  Solution Solve();

 private:
  struct Node {
    std::vector<double> costs;
    std::map<int, std::vector<double>> edges;  // by neighbour: [own alternative][the neighbour's]
  };

  size_t Alternatives(int node) const { return nodes_[static_cast<size_t>(node)].costs.size(); }
  void Requeue(int node, size_t degree_before);
  Node Remove(int node);
  void ReduceOne(const Node& node);
  void ReduceTwo(const Node& node);
  int Decide(const Node& node) const;
  void Fix(const Node& node, size_t alternative);

  std::vector<Node> nodes_;
  std::set<std::pair<size_t, int>> queue_;  // degree, minus the node's number
  bool is_solving_ = false;
};

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PBQP_H_
