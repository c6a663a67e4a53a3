#include "compiler/passes/pbqp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::passes {
namespace {

std::vector<double> Transposed(const std::vector<double>& costs, size_t columns) {
  const size_t rows = costs.size() / columns;
  std::vector<double> transposed(costs.size());
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) transposed[j * rows + i] = costs[i * columns + j];
  }
  return transposed;
}

void Add(std::vector<double>& to, const std::vector<double>& costs) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += costs[i];
}

size_t FirstLeast(const std::vector<double>& costs) {
  return static_cast<size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

// Whether what one end costs does not depend on the other's choice: E(i, j) = u(i) + w(j).
bool IsSeparable(const std::vector<double>& costs, size_t columns) {
  const size_t rows = costs.size() / columns;
  if (rows == 1 || columns == 1) return true;
  double largest = 0;
  for (double cost : costs) {
    if (!std::isfinite(cost)) return false;
    largest = std::max(largest, std::abs(cost));
  }
  for (size_t i = 1; i < rows; ++i) {
    for (size_t j = 1; j < columns; ++j) {
      const double rest = costs[i * columns + j] - costs[i * columns] - costs[j] + costs[0];
      if (std::abs(rest) > 1e-14 * largest) return false;
    }
  }
  return true;
}

}  // namespace

int Pbqp::AddNode(std::vector<double> costs) {
  nodes_.push_back({std::move(costs), {}});
  return static_cast<int>(nodes_.size()) - 1;
}

void Pbqp::AddToNode(int node, const std::vector<double>& costs) {
  Add(nodes_[static_cast<size_t>(node)].costs, costs);
}

void Pbqp::Requeue(int node, size_t degree_before) {
  if (!is_solving_) return;
  queue_.erase({degree_before, -node});
  queue_.insert({nodes_[static_cast<size_t>(node)].edges.size(), -node});
}

void Pbqp::AddEdge(int a, int b, std::vector<double> costs) {
  const size_t columns = Alternatives(b);
  Node& from = nodes_[static_cast<size_t>(a)];
  Node& to = nodes_[static_cast<size_t>(b)];
  const size_t degree_a = from.edges.size();
  const size_t degree_b = to.edges.size();
  const auto known = from.edges.find(b);
  if (known != from.edges.end()) Add(costs, known->second);
  if (IsSeparable(costs, columns)) {
    const size_t rows = costs.size() / columns;
    const double base = rows > 1 && columns > 1 ? costs[0] : 0;
    if (columns == 1) {
      Add(from.costs, costs);
    } else if (rows == 1) {
      Add(to.costs, costs);
    } else {
      for (size_t i = 0; i < rows; ++i) from.costs[i] += costs[i * columns] - base;
      for (size_t j = 0; j < columns; ++j) to.costs[j] += costs[j];
    }
    from.edges.erase(b);
    to.edges.erase(a);
  } else {
    to.edges[a] = Transposed(costs, columns);
    from.edges[b] = std::move(costs);
  }
  Requeue(a, degree_a);
  Requeue(b, degree_b);
}

// The node with its edges, which its neighbours lose.
Pbqp::Node Pbqp::Remove(int node) {
  Node removed = nodes_[static_cast<size_t>(node)];
  queue_.erase({removed.edges.size(), -node});
  for (const auto& [neighbour, costs] : removed.edges) {
    auto& edges = nodes_[static_cast<size_t>(neighbour)].edges;
    const size_t degree_before = edges.size();
    edges.erase(node);
    Requeue(neighbour, degree_before);
  }
  return removed;
}

void Pbqp::ReduceOne(const Node& node) {
  const auto& [neighbour, edge] = *node.edges.begin();
  const size_t columns = Alternatives(neighbour);
  std::vector<double> least(columns, kNever);
  for (size_t i = 0; i < node.costs.size(); ++i) {
    for (size_t j = 0; j < columns; ++j) {
      least[j] = std::min(least[j], node.costs[i] + edge[i * columns + j]);
    }
  }
  AddToNode(neighbour, least);
}

void Pbqp::ReduceTwo(const Node& node) {
  const auto& [a, edge_a] = *node.edges.begin();
  const auto& [b, edge_b] = *node.edges.rbegin();
  const size_t rows = Alternatives(a);
  const size_t columns = Alternatives(b);
  std::vector<double> least(rows * columns, kNever);
  for (size_t x = 0; x < node.costs.size(); ++x) {
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        double& best = least[i * columns + j];
        best = std::min(best, node.costs[x] + edge_a[x * rows + i] + edge_b[x * columns + j]);
      }
    }
  }
  AddEdge(a, b, std::move(least));
}

int Pbqp::Decide(const Node& node) const {
  std::vector<double> costs = node.costs;
  for (const auto& [neighbour, edge] : node.edges) {
    const std::vector<double>& others = nodes_[static_cast<size_t>(neighbour)].costs;
    for (size_t i = 0; i < costs.size(); ++i) {
      double least = kNever;
      for (size_t j = 0; j < others.size(); ++j) {
        least = std::min(least, edge[i * others.size() + j] + others[j]);
      }
      costs[i] += least;
    }
  }
  return static_cast<int>(FirstLeast(costs));
}

void Pbqp::Fix(const Node& node, size_t alternative) {
  for (const auto& [neighbour, edge] : node.edges) {
    const size_t columns = Alternatives(neighbour);
    const auto row = edge.begin() + static_cast<std::ptrdiff_t>(alternative * columns);
    AddToNode(neighbour, {row, row + static_cast<std::ptrdiff_t>(columns)});
  }
}

Pbqp::Solution Pbqp::Solve() {
  is_solving_ = true;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    queue_.insert({nodes_[n].edges.size(), -static_cast<int>(n)});
  }
  Solution solution{.choice = std::vector<int>(nodes_.size(), -1), .is_exact = true};
  std::vector<std::pair<int, Node>> reduced;  // in order; decided in the opposite one
  while (!queue_.empty()) {
    const bool is_reducible = queue_.begin()->first <= 2;
    const int number = -(is_reducible ? *queue_.begin() : *queue_.rbegin()).second;
    Node node = Remove(number);
    if (!is_reducible) {
      const int alternative = Decide(node);
      Fix(node, static_cast<size_t>(alternative));
      solution.choice[static_cast<size_t>(number)] = alternative;
      solution.is_exact = false;
      continue;
    }
    if (node.edges.size() == 1) ReduceOne(node);
    if (node.edges.size() == 2) ReduceTwo(node);
    reduced.emplace_back(number, std::move(node));
  }
  for (auto it = reduced.rbegin(); it != reduced.rend(); ++it) {
    auto& [number, node] = *it;
    for (const auto& [neighbour, edge] : node.edges) {
      const size_t columns = Alternatives(neighbour);
      const auto chosen = static_cast<size_t>(solution.choice[static_cast<size_t>(neighbour)]);
      for (size_t i = 0; i < node.costs.size(); ++i) node.costs[i] += edge[i * columns + chosen];
    }
    solution.choice[static_cast<size_t>(number)] = static_cast<int>(FirstLeast(node.costs));
  }
  return solution;
}

}  // namespace hone::passes
