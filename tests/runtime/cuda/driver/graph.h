// Graphs of the driver that stands in for NVIDIA's.
#ifndef HONE_TESTS_RUNTIME_CUDA_DRIVER_GRAPH_H_
#define HONE_TESTS_RUNTIME_CUDA_DRIVER_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <set>
#include <vector>

// As CUgraphEdgeData. All zeros are a full dependency.
struct GraphEdge {
  uint8_t from_port;
  uint8_t to_port;
  uint8_t type;
  uint8_t reserved[5];
};

struct GraphNode {
  std::function<void()> kernel;  // empty if the node is
  std::set<GraphNode*> after;
};

class Graph {
 public:
  // Null if one of the nodes is not of this graph, or there twice.
  GraphNode* Add(std::function<void()> kernel, GraphNode* const* after, size_t count);
  // False if an edge is there already, joins nodes of another graph or a node with itself, or is
  // neither full nor a programmatic dependency of two kernels, or if the edges are of several
  // kinds: some of NVIDIA's drivers then take the first one's kind for all.
  bool Connect(GraphNode* const* from, GraphNode* const* to, const GraphEdge* edges, size_t count);

  const std::list<GraphNode>& nodes() const { return nodes_; }
  int edges() const { return edges_; }
  int early_edges() const { return early_edges_; }

 private:
  bool Has(const GraphNode* node) const { return members_.contains(node); }

  std::list<GraphNode> nodes_;
  std::set<const GraphNode*> members_;
  int edges_ = 0;
  int early_edges_ = 0;
};

// A graph that can be run. Whatever the edges leave open differs from run to run, so that results
// show a missing one: the first run takes the newest node that is ready, later ones any.
class GraphExec {
 public:
  // Takes the nodes of the graph as they are now.
  explicit GraphExec(const Graph& graph);
  bool has_cycle() const;
  void Run();

 private:
  struct Node {
    std::function<void()> kernel;
    std::vector<size_t> next;
    size_t waits_for = 0;
  };
  // Calls visit(i) for all nodes in an order that the edges allow; returns for how many.
  size_t Walk(uint64_t seed, const std::function<void(size_t)>& visit) const;

  std::vector<Node> nodes_;
  uint64_t runs_ = 0;
};

#endif  // HONE_TESTS_RUNTIME_CUDA_DRIVER_GRAPH_H_
