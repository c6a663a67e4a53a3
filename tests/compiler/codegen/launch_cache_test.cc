// Launches that are compiled once for many artifacts.
#include "compiler/codegen/launch_cache.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "compiler/loop/reference.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "gtest/gtest.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/schedule/opened.h"

namespace hone::codegen {
namespace {

// A convolution that packs its weights and copies its data before it runs.
loop::Nest ThreeLaunches(int64_t unroll) {
  const absl::StatusOr<ops::KernelDefinition> def = ops::LowerWorkload(
      "fn (p0: Tensor[(1, 16, 6, 6), float32], const p1: Tensor[(16, 16, 3, 3), float32]) { "
      "nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) } accumulate=float32 numerics=default");
  EXPECT_TRUE(def.ok()) << def.status();
  const CpuTarget target = TestTarget();
  const schedule::Template& conv = schedule::TemplateFor(*def);
  const schedule::Task task{&*def, conv.Signatures(*def, machine::Machine::For(target))[0], target};
  schedule::Config config = schedule::DefaultOfTask(task);
  config.Set("pad", std::string("copy"));
  config.Set("unroll", unroll);
  absl::StatusOr<loop::Nest> nest = schedule::NestOfConfig(task, config);
  EXPECT_TRUE(nest.ok()) << nest.status();
  return nest.ok() ? *nest : loop::Nest();
}

TEST(LaunchCache, AnArtifactIsTheSameWithLaunchesFromTheCache) {
  LaunchCache cache;
  const ModuleSpec spec = ArtifactOf(ThreeLaunches(1), TestTarget());
  ASSERT_GE(spec.kernels[0].nest.launches.size(), 3u);
  const auto first = BuildModule(spec, nullptr, &cache);
  const auto second = BuildModule(spec, nullptr, &cache);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(*first, *second);
}

// Every link resets LLVM's options, which say what passes another thread's code goes through.
TEST(BuildModule, GivesTheSameCodeInSeveralThreads) {
  const ModuleSpec spec = ArtifactOf(ThreeLaunches(1), TestTarget());
  const auto expected = BuildModule(spec);
  ASSERT_TRUE(expected.ok()) << expected.status();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 8; ++i) {
        const auto found = BuildModule(spec);
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(*found, *expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LaunchCache, ArtifactsOfOtherConfigsComputeWhatTheyDidWithout) {
  LaunchCache cache;
  for (const int64_t unroll : {1, 2}) {
    const loop::Nest nest = ThreeLaunches(unroll);
    const ModuleSpec spec = ArtifactOf(nest, TestTarget());
    const auto without = BuildModule(spec);
    const auto with = BuildModule(spec, nullptr, &cache);
    ASSERT_TRUE(without.ok()) << without.status();
    ASSERT_TRUE(with.ok()) << with.status();
    const LoadedModule modules[] = {LoadedModule(*without), LoadedModule(*with)};
    Buffers expected(nest, 7);
    Buffers found(nest, 7);
    modules[0].Run(expected.pointers());
    modules[1].Run(found.pointers());
    const int output = static_cast<int>(nest.buffers.size()) - 1;
    ASSERT_EQ(nest.buffers[output]->role, loop::Role::kOutput);
    for (int64_t i = 0; i < 16 * 6 * 6; ++i) {
      ASSERT_EQ(expected.At(nest, output, i), found.At(nest, output, i)) << i;
    }
  }
}

// The reference of a requantisation writes its value and how far rounding may be off, in two
// launches of one name.
TEST(LaunchCache, LaunchesOfOneNameAreLinkedTogether) {
  LaunchCache cache;
  const absl::StatusOr<ops::KernelDefinition> def = ops::LowerWorkload(
      "fn (p0: Tensor[(4, 8), int32]) { qnn.requantize(p0, 0.02f32, 3u8) } accumulate=float32 "
      "numerics=default");
  ASSERT_TRUE(def.ok()) << def.status();
  const loop::Nest nest = loop::ReferenceNest(def->naive);
  std::set<std::string> names;
  for (const loop::Launch& launch : nest.launches) names.insert(launch.name);
  ASSERT_LT(names.size(), nest.launches.size());
  const auto artifact = BuildModule(ArtifactOf(nest, TestTarget()), nullptr, &cache);
  EXPECT_TRUE(artifact.ok()) << artifact.status();
}

TEST(LaunchCache, ForgetsRatherThanGrowBeyondItsLimit) {
  LaunchCache cache(/*limit_bytes=*/100);
  cache.Add("a", {std::string(60, 'x'), 0});
  ASSERT_NE(cache.Find("a"), nullptr);
  cache.Add("b", {std::string(60, 'y'), 3});
  EXPECT_EQ(cache.Find("a"), nullptr);
  ASSERT_NE(cache.Find("b"), nullptr);
  EXPECT_EQ(cache.Find("b")->scratch_bytes, 3u);
  cache.Add("c", {std::string(200, 'z'), 0});
  EXPECT_EQ(cache.Find("c"), nullptr);
}

}  // namespace
}  // namespace hone::codegen
