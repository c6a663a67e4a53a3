#include "runtime/cuda/launch_graph.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/runtime/cuda/driver/cuda_driver.h"

namespace hone::cuda {
namespace {

constexpr char kEmptyKernel[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty() { ret; }\n";

class LaunchGraphTest : public testing::Test {
 protected:
  LaunchGraphTest() : device_(CudaDevice::Make(0, &error_)), in_context_(*device_) {
    api_.ModuleLoadDataEx(&module_, kEmptyKernel, 0, nullptr, nullptr);
    api_.ModuleGetFunction(&launch_.function, module_, "empty");
  }
  ~LaunchGraphTest() override { api_.ModuleUnload(module_); }

  struct Edges {
    int all;
    int early;
    bool operator==(const Edges&) const = default;
  };
  // What the driver makes of the graph.
  Edges EdgesOf(LaunchGraph& graph) const {
    const CudaDriverCounts before = cuda_driver_counts();
    GraphExec exec = nullptr;
    EXPECT_EQ(graph.Instantiate(&exec), kSuccess);
    if (exec != nullptr) api_.GraphExecDestroy(exec);
    const CudaDriverCounts after = cuda_driver_counts();
    return {after.edges - before.edges, after.early_edges - before.early_edges};
  }

  std::string error_;
  const std::shared_ptr<CudaDevice> device_;
  const InContext in_context_;
  const CudaApi& api_ = device_->api();
  DriverModule module_ = nullptr;
  KernelLaunch launch_ = {nullptr, {1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr};
};

TEST_F(LaunchGraphTest, OneLaunchThatDoesNotWaitMakesAllEdgesToTheNextFull) {
  LaunchGraph graph(api_, /*starts_early=*/true);
  graph.Add(launch_, {}, /*waits=*/true);
  graph.Add(launch_, {}, /*waits=*/true);
  graph.Add(launch_, {}, /*waits=*/false);
  graph.Add(launch_, {0, 1}, /*waits=*/true);
  EXPECT_EQ(EdgesOf(graph), (Edges{2, 2}));
  graph.Add(launch_, {0, 2}, /*waits=*/true);
  graph.Add(launch_, {3}, /*waits=*/false);
  EXPECT_EQ(EdgesOf(graph), (Edges{5, 2}));
}

TEST_F(LaunchGraphTest, RunsOfBranchesMeetInANodeOfTheirOwn) {
  LaunchGraph graph(api_, /*starts_early=*/true);
  for (int run = 0; run < 2; ++run) {
    if (run > 0) graph.EndRun();
    graph.Add(launch_, {}, /*waits=*/true);
    for (int branch = 0; branch < 3; ++branch) graph.Add(launch_, {0}, /*waits=*/true);
  }
  EXPECT_EQ(EdgesOf(graph), (Edges{3 + 3 + 1 + 3, 3 + 3}));
}

TEST_F(LaunchGraphTest, OlderDriversGetFullEdges) {
  CudaApi older = api_;
  older.GraphAddDependencies = nullptr;
  LaunchGraph graph(older, /*starts_early=*/true);
  graph.Add(launch_, {}, /*waits=*/true);
  graph.Add(launch_, {0}, /*waits=*/true);
  EXPECT_FALSE(graph.has_early_starts());
  EXPECT_EQ(EdgesOf(graph), (Edges{1, 0}));
}

}  // namespace
}  // namespace hone::cuda
