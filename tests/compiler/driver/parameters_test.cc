// What Compile does with weights: stored once, and gone from memory as soon as they are written.
#include "compiler/driver/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "compiler/driver/prepare.h"
#include "compiler/frontend/zoo/zoo.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

struct Scheduled {
  KernelGraph graph;
  std::vector<loop::Nest> nests;
};

Scheduled ScheduleDefault(const ir::Module& module) {
  const Target target = HostTarget();
  Scheduled result{.graph = BuildKernelGraph(RunPasses(module, target).value()).value(),
                   .nests = {}};
  ConfigChain defaults;
  for (const Kernel& kernel : result.graph.kernels) {
    const schedule::Task task{
        .def = kernel.def.get(), .signature = kernel.signature, .target = target};
    result.nests.push_back(defaults.Schedule(task).value().nest);
  }
  return result;
}

ir::ConstantData CopyOf(const ir::ConstantData& data) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(data.bytes, data.bytes + data.size_bytes);
  return {.owner = bytes, .bytes = bytes->data(), .size_bytes = data.size_bytes};
}

constexpr int64_t kWidth = 192;

ir::Expr Weight(float first) {
  std::vector<float> values(kWidth * kWidth);
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 7);
  return ir::ConstantFromBytes({{kWidth, kWidth}, DataType::kFloat32}, values.data());
}

// One layer after another, with ends that make their kernels differ.
ir::Module Layers(const std::vector<ir::Expr>& weights) {
  const ir::Expr x = ir::TensorVar("x", {4, kWidth}, DataType::kFloat32);
  ir::Expr value = x;
  for (size_t i = 0; i < weights.size(); ++i) {
    value = ir::Call("nn.dense", {value, weights[i]});
    value = ir::Call(i % 2 == 0 ? "nn.relu" : "tanh", {value});
  }
  return {.functions = {{"main", ir::Function({x}, value)}}};
}

TEST(Parameters, WhatKernelsPackAlikeOfEqualConstantsIsStoredOnce) {
  const Scheduled same = ScheduleDefault(Layers({Weight(1), Weight(1)}));
  ASSERT_EQ(same.nests.size(), 2U);
  const ParameterPlan once = PlanParameters(same.graph, same.nests);
  const Scheduled other = ScheduleDefault(Layers({Weight(1), Weight(2)}));
  const ParameterPlan twice = PlanParameters(other.graph, other.nests);
  EXPECT_EQ(once.entries.size(), 1U);
  EXPECT_EQ(twice.entries.size(), 2U);
  EXPECT_EQ(2 * once.size_bytes, twice.size_bytes);
}

TEST(Parameters, EntriesAreWrittenInTheOrderOfTheirOffsetsAndDoNotOverlap) {
  const Scheduled model = ScheduleDefault(
      frontend::ZooModel("squeezenet", {.width_divisor = 4, .extent_divisor = 4}).value());
  const ParameterPlan plan = PlanParameters(model.graph, model.nests);
  uint64_t end = 0;
  size_t count = 0;
  const auto sink = [&](uint64_t offset, std::string_view bytes) {
    EXPECT_GE(offset, end);
    end = offset + bytes.size();
    ++count;
    return absl::OkStatus();
  };
  ASSERT_TRUE(PrepareParameters(model.graph, model.nests, plan, sink).ok());
  EXPECT_EQ(count, plan.entries.size());
  EXPECT_LE(end, plan.size_bytes);
  for (size_t c = 0; c < model.graph.calls.size(); ++c) {
    for (const auto& offset : plan.offsets[c]) EXPECT_LT(offset.value_or(0), plan.size_bytes);
  }
}

// Otherwise compiling takes the weights twice: as they are, and packed.
TEST(Parameters, AConstantIsGoneFromMemoryOnceItsLastCallIsWritten) {
  Scheduled model = ScheduleDefault(Layers({Weight(1), Weight(2), Weight(1), Weight(3)}));
  const ParameterPlan plan = PlanParameters(model.graph, model.nests);
  std::map<int, std::weak_ptr<const void>> constants;
  std::map<int, int> last_call;
  for (size_t v = 0; v < model.graph.values.size(); ++v) {
    Value& value = model.graph.values[v];
    if (value.kind != Value::Kind::kConstant) continue;
    value.data = CopyOf(value.data);
    constants[static_cast<int>(v)] = value.data.owner;
  }
  std::map<int, size_t> place;  // of calls in the order of their preparation
  for (size_t i = 0; i < plan.order.size(); ++i) {
    place[plan.order[i]] = i;
    for (int value : model.graph.calls[plan.order[i]].args) last_call[value] = plan.order[i];
  }
  size_t next = 0;
  const auto sink = [&](uint64_t, std::string_view) {
    const int call = plan.entries[next++].call;
    for (const auto& [value, data] : constants) {
      EXPECT_EQ(data.expired(), place[last_call[value]] < place[call]) << value << " at " << call;
    }
    return absl::OkStatus();
  };
  ASSERT_TRUE(PrepareParameters(std::move(model.graph), model.nests, plan, sink).ok());
  EXPECT_EQ(next, 3U);
  for (const auto& [value, data] : constants) EXPECT_TRUE(data.expired());
}

TEST(Parameters, AnErrorOfTheSinkEndsThePreparation) {
  const Scheduled model = ScheduleDefault(Layers({Weight(1), Weight(2)}));
  const ParameterPlan plan = PlanParameters(model.graph, model.nests);
  int calls = 0;
  const auto full = [&](uint64_t, std::string_view) {
    ++calls;
    return absl::ResourceExhaustedError("disk full");
  };
  EXPECT_TRUE(absl::IsResourceExhausted(PrepareParameters(model.graph, model.nests, plan, full)));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace hone::driver
