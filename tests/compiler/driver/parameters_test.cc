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

Scheduled ScheduleDefault(const std::vector<ir::Module>& modules) {
  const CpuTarget target = HostTarget();
  KernelGraphBuilder builder;
  for (const ir::Module& module : modules) {
    EXPECT_TRUE(builder.Add(RunPasses(module, target).value()).ok());
  }
  Scheduled result{.graph = builder.Take(), .nests = {}};
  ConfigChain defaults;
  for (const Kernel& kernel : result.graph.kernels) {
    const schedule::Task task{
        .def = kernel.def.get(), .signature = kernel.signature, .target = target};
    result.nests.push_back(defaults.Schedule(task).value().lowered.nest);
  }
  return result;
}

std::shared_ptr<const std::vector<uint8_t>> CopyOf(const ir::ConstantData& data) {
  return std::make_shared<const std::vector<uint8_t>>(data.bytes(),
                                                      data.bytes() + data.size_bytes());
}

constexpr int64_t kWidth = 192;

ir::Expr Weight(float first) {
  std::vector<float> values(kWidth * kWidth);
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 7);
  return ir::ConstantFromBytes({{kWidth, kWidth}, DataType::kFloat32}, values.data());
}

// One layer after another, with ends that make their kernels differ.
ir::Module Layers(const std::vector<ir::Expr>& weights, int64_t rows = 4) {
  const ir::Expr x = ir::TensorVar("x", {rows, kWidth}, DataType::kFloat32);
  ir::Expr value = x;
  for (size_t i = 0; i < weights.size(); ++i) {
    value = ir::Call("nn.dense", {value, weights[i]});
    value = ir::Call(i % 2 == 0 ? "nn.relu" : "tanh", {value});
  }
  return {.functions = {{"main", ir::Function({x}, value)}}};
}

TEST(Parameters, WhatKernelsPackAlikeOfEqualConstantsIsStoredOnce) {
  const Scheduled same = ScheduleDefault({Layers({Weight(1), Weight(1)})});
  ASSERT_EQ(same.nests.size(), 2U);
  const ParameterPlan once = PlanParameters(same.graph, same.nests);
  const Scheduled other = ScheduleDefault({Layers({Weight(1), Weight(2)})});
  const ParameterPlan twice = PlanParameters(other.graph, other.nests);
  EXPECT_EQ(once.entries.size(), 1U);
  EXPECT_EQ(twice.entries.size(), 2U);
  EXPECT_EQ(2 * once.size_bytes, twice.size_bytes);
}

TEST(Parameters, EntriesAreWrittenInTheOrderOfTheirOffsetsAndDoNotOverlap) {
  const Scheduled model = ScheduleDefault(
      {frontend::ZooModel("squeezenet", {.width_divisor = 4, .extent_divisor = 4}).value()});
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
  ASSERT_EQ(plan.offsets.size(), 1U);
  EXPECT_EQ(plan.offsets[0].size(), model.graph.specialisations[0].calls.size());
  for (const auto& of_call : plan.offsets[0]) {
    for (const auto& offset : of_call) EXPECT_LT(offset.value_or(0), plan.size_bytes);
  }
}

// The constants of a graph, each with bytes of its own, and the last entry that is made of each: -1
// where none is.
struct Watched {
  std::vector<std::weak_ptr<const void>> data;
  std::vector<int> last_entry;
};

Watched Watch(KernelGraph& graph, const ParameterPlan& plan) {
  Watched watched;
  std::map<const uint8_t*, size_t> number;  // by where the bytes were
  std::map<const uint8_t*, ir::ConstantData> copies;
  std::vector<ir::ConstantData> alive;  // lest two have one address
  for (size_t s = 0; s < graph.specialisations.size(); ++s) {
    for (size_t v = 0; v < graph.specialisations[s].values.size(); ++v) {
      Value& value = graph.specialisations[s].values[v];
      if (value.kind != Value::Kind::kConstant) continue;
      alive.push_back(value.data);
      const uint8_t* bytes = value.data.bytes();
      if (number.try_emplace(bytes, number.size()).second) {
        const auto copy = CopyOf(value.data);
        copies[bytes] = {copy, copy->data(), copy->size()};
        watched.data.emplace_back(copy);
        watched.last_entry.push_back(-1);
      }
      value.data = copies[bytes];
      for (size_t e = 0; e < plan.entries.size(); ++e) {
        const CallPlace place = plan.entries[e].call;
        const std::vector<int>& args = graph.specialisations[s].calls[place.call].args;
        const bool reads = place.specialisation == static_cast<int>(s) &&
                           std::find(args.begin(), args.end(), v) != args.end();
        int& last = watched.last_entry[number[bytes]];
        if (reads) last = std::max(last, static_cast<int>(e));
      }
    }
  }
  return watched;
}

// How many entries come, each checked for which of the constants are gone.
int PrepareWatched(Scheduled model) {
  const ParameterPlan plan = PlanParameters(model.graph, model.nests);
  const Watched watched = Watch(model.graph, plan);
  int entry = 0;
  const auto sink = [&](uint64_t, std::string_view) {
    for (size_t i = 0; i < watched.data.size(); ++i) {
      EXPECT_EQ(watched.data[i].expired(), watched.last_entry[i] < entry) << i << " at " << entry;
    }
    ++entry;
    return absl::OkStatus();
  };
  EXPECT_TRUE(PrepareParameters(std::move(model.graph), model.nests, plan, sink).ok());
  for (const auto& data : watched.data) EXPECT_TRUE(data.expired());
  return entry;
}

// Otherwise compiling takes the weights twice: as they are, and packed.
TEST(Parameters, AConstantIsGoneFromMemoryOnceItsLastEntryIsWritten) {
  EXPECT_EQ(PrepareWatched(ScheduleDefault({Layers({Weight(1), Weight(2), Weight(1), Weight(3)})})),
            3);
}

ir::Module ThreeLayers(int64_t rows) { return Layers({Weight(1), Weight(2), Weight(3)}, rows); }

TEST(Parameters, SpecialisationsShareWhatTheirKernelsPackAlike) {
  const Scheduled one = ScheduleDefault({ThreeLayers(64)});
  const Scheduled both = ScheduleDefault({ThreeLayers(64), ThreeLayers(128)});
  EXPECT_GT(both.graph.kernels.size(), one.graph.kernels.size());
  const ParameterPlan alone = PlanParameters(one.graph, one.nests);
  const ParameterPlan shared = PlanParameters(both.graph, both.nests);
  EXPECT_EQ(shared.size_bytes, alone.size_bytes);
  ASSERT_EQ(shared.offsets.size(), 2U);
  EXPECT_EQ(shared.offsets[0], shared.offsets[1]);
  EXPECT_EQ(PrepareWatched(both), 3);
}

// One weight, packed in one way for four rows and in another for many.
TEST(Parameters, SpecialisationsLetGoOfConstantsTogether) {
  const Scheduled both = ScheduleDefault({ThreeLayers(4), ThreeLayers(128)});
  const size_t entries = PlanParameters(both.graph, both.nests).entries.size();
  EXPECT_GE(entries, 3U);
  EXPECT_EQ(PrepareWatched(both), static_cast<int>(entries));
}

TEST(Parameters, AnErrorOfTheSinkEndsThePreparation) {
  const Scheduled model = ScheduleDefault({Layers({Weight(1), Weight(2)})});
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
