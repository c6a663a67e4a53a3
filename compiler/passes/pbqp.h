// Partitioned boolean quadratic programming: one alternative for each node of a graph, so that the
// costs of nodes and edges are least in sum.
#ifndef HONE_COMPILER_PASSES_PBQP_H_
#define HONE_COMPILER_PASSES_PBQP_H_

#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace hone::passes {

// The cost of what may not be.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

// Nodes of degree 0, 1 and 2 are reduced exactly; where only others are left, the one of highest
// degree takes the alternative that is cheapest with each neighbour's best. Deterministic: among
// equals the first alternative, the first node. n log n in nodes, linear in edges.
class Pbqp {
 public:
  // One alternative at least. Returns the node's number, counted from 0.
  int AddNode(std::vector<double> costs);
  void AddToNode(int node, const std::vector<double>& costs);
  // costs[i * alternatives of b + j]; a is not b. Edges of the same pair add up. Infinity: never
  // together.
  void AddEdge(int a, int b, std::vector<double> costs);

  struct Solution {
    std::vector<int> choice;  // an alternative for each node
    bool is_exact = true;     // no node was decided by heuristic
  };
  // Once.
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
