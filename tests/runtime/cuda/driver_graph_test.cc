// Graphs of the driver that stands in for NVIDIA's: tests of models rely on what it refuses, and on
// the orders in which it runs nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/runtime/cuda/driver/graph.h"

namespace {

using ::testing::UnorderedElementsAre;

constexpr GraphEdge kFullEdge = {};
constexpr GraphEdge kEarlyEdge = {1, 0, 1, {}};

class DriverGraphTest : public testing::Test {
 protected:
  GraphNode* Add(char name, const std::vector<GraphNode*>& after = {}) {
    return graph_.Add([this, name] { order_ += name; }, after.data(), after.size());
  }
  bool Connect(GraphNode* from, GraphNode* to, const GraphEdge& edge) {
    return graph_.Connect(&from, &to, &edge, 1);
  }
  std::string OrderOf(GraphExec& exec) {
    order_.clear();
    exec.Run();
    return order_;
  }

  Graph graph_;
  std::string order_;
};

TEST_F(DriverGraphTest, RunsNodesInAllOrdersThatTheEdgesAllow) {
  GraphNode* const a = Add('a');
  GraphNode* const b = Add('b', {a});
  Add('c', {a});
  Add('d', {b});
  GraphExec exec(graph_);
  EXPECT_EQ(OrderOf(exec), "acbd") << "the newest first";
  std::set<std::string> orders;
  for (int run = 0; run < 50; ++run) orders.insert(OrderOf(exec));
  EXPECT_THAT(orders, UnorderedElementsAre("abcd", "acbd", "abdc"));
}

TEST_F(DriverGraphTest, RefusesEdgesThatTheRealOneRefuses) {
  GraphNode* const a = Add('a');
  GraphNode* const b = Add('b');
  GraphNode* const empty = graph_.Add(nullptr, &a, 1);
  Graph other;
  GraphNode* const foreign = other.Add([] {}, nullptr, 0);
  EXPECT_EQ(graph_.Add(nullptr, &foreign, 1), nullptr);
  EXPECT_FALSE(Connect(foreign, b, kFullEdge));
  EXPECT_FALSE(Connect(b, b, kFullEdge));
  EXPECT_FALSE(Connect(a, empty, kFullEdge)) << "it is there already";
  EXPECT_FALSE(Connect(empty, b, kEarlyEdge)) << "not from a kernel";
  EXPECT_FALSE(Connect(b, empty, kEarlyEdge)) << "not to a kernel";
  EXPECT_FALSE(Connect(a, b, {1, 0, 0, {}})) << "the port of another type";
  EXPECT_TRUE(Connect(a, b, kEarlyEdge));
  EXPECT_TRUE(Connect(b, empty, kFullEdge));
}

TEST_F(DriverGraphTest, SeesCycles) {
  GraphNode* const a = Add('a');
  GraphNode* const b = Add('b', {a});
  EXPECT_FALSE(GraphExec(graph_).has_cycle());
  EXPECT_TRUE(Connect(b, a, kFullEdge));
  EXPECT_TRUE(GraphExec(graph_).has_cycle());
}

}  // namespace
