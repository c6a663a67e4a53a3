// Two graph convolutions (Kipf, Welling, arXiv 1609.02907) on a random graph of Cora's size: 2708
// papers of 1433 words, 5278 citations, 7 classes. logits = A relu(A (X W1) + b1) W2 + b2, where A
// is the adjacency with loops, scaled by the degrees of both ends. Several samples are features of
// the one graph.
#include <cmath>
#include <set>
#include <utility>

#include "compiler/frontend/onnx/graph_builder.h"
#include "compiler/frontend/zoo/models.h"

namespace hone::frontend {
namespace {

// Neighbours of each node, itself among them, in ascending order.
using Graph = std::vector<std::set<int64_t>>;

Graph RandomGraph(int64_t nodes, int64_t edges, uint64_t seed) {
  Random random(seed);
  Graph graph(nodes);
  for (int64_t i = 0; i < nodes; ++i) graph[i].insert(i);
  while (edges > 0) {
    const auto a = static_cast<int64_t>(random.Below(nodes));
    const auto b = static_cast<int64_t>(random.Below(nodes));
    if (!graph[a].insert(b).second) continue;
    graph[b].insert(a);
    --edges;
  }
  return graph;
}

// A in CSR: data, indices and indptr, as nn.sparse_dense takes them.
std::vector<ir::Expr> Adjacency(const Graph& graph) {
  std::vector<float> data;
  std::vector<int32_t> indices;
  std::vector<int32_t> indptr = {0};
  for (const std::set<int64_t>& row : graph) {
    for (const int64_t column : row) {
      const auto degrees = static_cast<double>(row.size() * graph[column].size());
      data.push_back(static_cast<float>(1 / std::sqrt(degrees)));
      indices.push_back(static_cast<int32_t>(column));
    }
    indptr.push_back(static_cast<int32_t>(data.size()));
  }
  const auto count = static_cast<int64_t>(data.size());
  return {ir::ConstantFromBytes({{count}, DataType::kFloat32}, data.data()),
          ir::ConstantFromBytes({{count}, DataType::kInt32}, indices.data()),
          ir::ConstantFromBytes({{static_cast<int64_t>(indptr.size())}, DataType::kInt32},
                                indptr.data())};
}

class Gcn {
 public:
  explicit Gcn(NetBuilder& net)
      : net_(net),
        nodes_(net.Extent(2708)),
        adjacency_(Adjacency(RandomGraph(nodes_, net.Extent(5278), /*seed=*/7))) {}

  ir::Expr Build() {
    const Shape rows = {nodes_, net_.Width(1433)};
    if (net_.batch() == 1) return Layers(net_.Input("data", rows));
    const ir::Expr data = net_.Input("data", {net_.batch(), nodes_, rows[1]});
    const ir::Expr y = Layers(net_.Reshape(data, {net_.batch() * nodes_, rows[1]}));
    return net_.Reshape(y, {net_.batch(), nodes_, y->type->tensor.shape[1]});
  }

 private:
  ir::Expr Layers(const ir::Expr& x) { return Convolve(net_.Relu(Convolve(x, 16)), 7); }

  // (batch * nodes, units of x) to (batch * nodes, units).
  ir::Expr Convolve(const ir::Expr& x, int64_t units) {
    const Shape weight = {net_.Width(units), x->type->tensor.shape[1]};
    const double bound = std::sqrt(6.0 / static_cast<double>(weight[1]));
    const ir::Expr y = Spread(net_.Call("nn.dense", {x, net_.Uniform(weight, -bound, bound)}));
    return net_.Add(y, net_.Uniform({weight[0]}, -0.125, 0.125));
  }

  // A times the features of each sample: of all of them at once, side by side.
  ir::Expr Spread(const ir::Expr& x) {
    if (net_.batch() == 1) return Multiply(x);
    const int64_t units = x->type->tensor.shape[1];
    const Shape swap = {1, 0, 2};
    ir::Expr y = net_.Reshape(x, {net_.batch(), nodes_, units});
    y = net_.Reshape(net_.Call("transpose", {y}, {{"axes", swap}}), {nodes_, net_.batch() * units});
    y = net_.Reshape(Multiply(y), {nodes_, net_.batch(), units});
    return net_.Reshape(net_.Call("transpose", {y}, {{"axes", swap}}), x->type->tensor.shape);
  }

  ir::Expr Multiply(const ir::Expr& x) {
    return net_.Call("nn.sparse_dense", {adjacency_[0], adjacency_[1], adjacency_[2], x});
  }

  NetBuilder& net_;
  const int64_t nodes_;
  const std::vector<ir::Expr> adjacency_;
};

}  // namespace

ir::Expr BuildGcn(NetBuilder& net) { return Gcn(net).Build(); }

}  // namespace hone::frontend
