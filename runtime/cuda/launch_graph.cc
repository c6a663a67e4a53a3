#include "runtime/cuda/launch_graph.h"

#include <algorithm>

namespace hone::cuda {

LaunchGraph::LaunchGraph(const CudaApi& api, bool starts_early)
    : api_(api), starts_early_(starts_early && api.GraphAddDependencies != nullptr) {
  result_ = api_.GraphCreate(&graph_, 0);
}

LaunchGraph::~LaunchGraph() {
  if (graph_ != nullptr) api_.GraphDestroy(graph_);
}

// The driver's manual does not say what a launch does that has edges of both kinds. So all edges to
// a launch are full if one is.
bool LaunchGraph::MayStartEarly(const std::vector<size_t>& after, bool waits) const {
  return starts_early_ && waits && !after.empty() &&
         std::ranges::all_of(after, [&](size_t launch) { return run_[launch].waits; });
}

void LaunchGraph::Add(const KernelLaunch& launch, const std::vector<size_t>& after, bool waits) {
  if (result_ != kSuccess) return;
  std::vector<GraphNode> nodes;
  for (const size_t earlier : after) {
    nodes.push_back(run_[earlier].handle);
    run_[earlier].is_last = false;
  }
  if (after.empty() && before_ != nullptr) nodes.push_back(before_);
  Node node{.handle = nullptr, .waits = waits, .is_last = true};
  const bool is_early = MayStartEarly(after, waits);
  result_ = api_.GraphAddKernelNode(&node.handle, graph_, is_early ? nullptr : nodes.data(),
                                    is_early ? 0 : nodes.size(), &launch);
  if (result_ == kSuccess && is_early) {
    // Some drivers take the first edge's data for all edges of a call, so a call has one kind only.
    const std::vector<GraphNode> to(nodes.size(), node.handle);
    const std::vector<EdgeData> edges(nodes.size(), kEarlyStart);
    result_ = api_.GraphAddDependencies(graph_, nodes.data(), to.data(), edges.data(), to.size());
    has_early_starts_ = true;
  }
  run_.push_back(node);
}

void LaunchGraph::EndRun() {
  std::vector<GraphNode> last;
  for (const Node& node : run_) {
    if (node.is_last) last.push_back(node.handle);
  }
  run_.clear();
  if (result_ != kSuccess || last.empty()) return;
  if (last.size() == 1) {
    before_ = last.front();
    return;
  }
  // Fewer edges than from each to each; but a node more, which might take time.
  result_ = api_.GraphAddEmptyNode(&before_, graph_, last.data(), last.size());
}

Result LaunchGraph::Instantiate(GraphExec* exec) {
  return result_ == kSuccess ? api_.GraphInstantiateWithFlags(exec, graph_, 0) : result_;
}

}  // namespace hone::cuda
