#include "runtime/launch_dependencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <utility>
#include <vector>

namespace hone {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Accesses = std::vector<MemoryAccess>;

MemoryAccess Reads(uintptr_t begin, uintptr_t end) { return {begin, end, false}; }
MemoryAccess Writes(uintptr_t begin, uintptr_t end) { return {begin, end, true}; }

TEST(AccessHistory, BranchesWaitForTheirSourceOnlyAndTheirJoinForBoth) {
  AccessHistory history;
  EXPECT_THAT(history.Add({Reads(0, 8), Writes(100, 108)}), IsEmpty());
  EXPECT_THAT(history.Add({Reads(100, 108), Writes(200, 208)}), ElementsAre(0));
  EXPECT_THAT(history.Add({Reads(100, 108), Writes(208, 216)}), ElementsAre(0));
  EXPECT_THAT(history.Add({Reads(200, 216), Reads(100, 108), Writes(300, 308)}), ElementsAre(1, 2))
      << "both wait for the first launch";
}

TEST(AccessHistory, AWriterWaitsForTheReadersOfAnyOfItsBytes) {
  AccessHistory history;
  history.Add({Writes(0, 100)});
  EXPECT_THAT(history.Add({Reads(0, 10)}), ElementsAre(0));
  EXPECT_THAT(history.Add({Reads(50, 60)}), ElementsAre(0));
  EXPECT_THAT(history.Add({Writes(9, 51)}), ElementsAre(1, 2));
  EXPECT_THAT(history.Add({Writes(60, 70)}), ElementsAre(0)) << "nobody read these bytes";
  EXPECT_THAT(history.Add({Reads(10, 20)}), ElementsAre(3));
}

// Memory that nobody has written may be another library's, whose addresses are anywhere.
TEST(AccessHistory, ReadersOfInputsDoNotWait) {
  AccessHistory history;
  for (int i = 0; i < 5; ++i)
    EXPECT_THAT(history.Add({Reads(UINTPTR_MAX - 8, UINTPTR_MAX)}), IsEmpty());
  EXPECT_THAT(history.Add({Writes(0, 0)}), IsEmpty());
}

Accesses RandomAccesses(std::mt19937_64& random) {
  Accesses accesses;
  const auto below = [&](uint64_t end) { return random() % end; };
  for (uint64_t count = below(4); count > 0; --count) {
    const uintptr_t begin = below(60);
    accesses.push_back({begin, begin + below(12), below(3) == 0});
  }
  return accesses;
}

bool Conflict(const Accesses& some, const Accesses& others) {
  return std::ranges::any_of(some, [&](const MemoryAccess& a) {
    return std::ranges::any_of(others, [&](const MemoryAccess& b) {
      return std::max(a.begin, b.begin) < std::min(a.end, b.end) && (a.writes || b.writes);
    });
  });
}

// For each launch all that it waits for, directly or not.
using Closure = std::vector<std::vector<bool>>;

void AddLaunch(const std::vector<size_t>& waits_for, Closure* closure) {
  std::vector<bool> all(closure->size(), false);
  for (const size_t before : waits_for) {
    ASSERT_LT(before, closure->size());
    all[before] = true;
    for (size_t i = 0; i < before; ++i) {
      if ((*closure)[before][i]) all[i] = true;
    }
  }
  closure->push_back(all);
}

TEST(AccessHistory, OrdersAsAllConflictsDo) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    AccessHistory history;
    AccessHistory hasty(/*most_looked_at=*/seed % 9);
    std::vector<Accesses> launches;
    Closure expected;
    Closure found;
    Closure found_in_haste;
    for (size_t launch = 0; launch < 60; ++launch) {
      launches.push_back(RandomAccesses(random));
      std::vector<size_t> conflicts;
      for (size_t before = 0; before < launch; ++before) {
        if (Conflict(launches[before], launches[launch])) conflicts.push_back(before);
      }
      AddLaunch(conflicts, &expected);
      const std::vector<size_t> waits_for = history.Add(launches[launch]);
      AddLaunch(waits_for, &found);
      ASSERT_EQ(found, expected) << "seed " << seed << ", launch " << launch;
      AddLaunch(hasty.Add(launches[launch]), &found_in_haste);
      ASSERT_EQ(found_in_haste, expected) << "seed " << seed << ", launch " << launch;
      for (const size_t a : waits_for) {
        for (const size_t b : waits_for) ASSERT_FALSE(a > b && found[a][b]) << "seed " << seed;
      }
    }
  }
}

// A recurrent layer: each trip reads all weights and the state before, and writes a row.
TEST(AccessHistory, LongChainsHaveOneDependencyALaunch) {
  AccessHistory history;
  for (uintptr_t trip = 0; trip < 20'000; ++trip) {
    const uintptr_t state = 1000 + trip % 2 * 100;
    const Accesses accesses = {Reads(0, 1000), Reads(2100 - state, 2200 - state),
                               Writes(state, state + 100),
                               Writes(10'000 + trip * 64, 10'064 + trip * 64)};
    ASSERT_LE(history.Add(accesses).size(), 1);
  }
}

constexpr uint8_t kRoles[] = {HONE_ROLE_CONSTANT, HONE_ROLE_PREPARED, HONE_ROLE_OUTPUT};

// A launch of a plan that uses buffers of the roles above, each 64 bytes long.
struct TestKernel {
  explicit TestKernel(uint32_t phase) {
    launch.phase = phase;
    for (size_t b = 0; b < 3; ++b) {
      buffers[b].role = kRoles[b];
      buffers[b].size_bytes = 64;
    }
  }
  SequenceStep Step(std::vector<uint32_t> used, size_t first_buffer) {
    arguments.push_back(std::move(used));
    device_launches.push_back({});
    device_launches.back().argument_count = static_cast<uint32_t>(arguments.back().size());
    device_launches.back().arguments = arguments.back().data();
    return {.launch = &launch,
            .device_launch = &device_launches.back(),
            .buffers = buffers,
            .first_buffer = first_buffer};
  }
  hone_launch launch{};
  hone_buffer buffers[3]{};
  std::list<std::vector<uint32_t>> arguments;
  std::list<hone_device_launch> device_launches;
};

TEST(LaunchDependencies, PreparedBuffersAreWrittenByPrepareLaunches) {
  void* const addresses[] = {reinterpret_cast<void*>(64), reinterpret_cast<void*>(128),
                             reinterpret_cast<void*>(192)};
  for (const bool prepares : {true, false}) {
    TestKernel kernel(prepares ? HONE_PHASE_PREPARE : HONE_PHASE_RUN);
    SequencePlan plan;
    plan.addresses = addresses;
    plan.steps = {kernel.Step({0, 1}, 0), kernel.Step({1, 2}, 0), kernel.Step({0}, 0)};
    const std::vector<std::vector<size_t>> dependencies = LaunchDependencies(plan);
    ASSERT_EQ(dependencies.size(), 3);
    if (prepares) {
      EXPECT_THAT(dependencies[1], ElementsAre(0));
    } else {
      EXPECT_THAT(dependencies[1], IsEmpty());
    }
    EXPECT_THAT(dependencies[2], IsEmpty());
  }
}

// A step copies a buffer to another one: to and fro in the trips of a repeat.
TEST(LaunchDependencies, TripsOfRepeatsFollowTheMovesOfTheirBuffers) {
  TestKernel kernel(HONE_PHASE_RUN);
  const auto address = [](uintptr_t at) { return reinterpret_cast<void*>(at); };
  void* const addresses[] = {address(64), address(128), address(1024)};
  SequencePlan plan;
  plan.addresses = addresses;
  plan.steps = {kernel.Step({0, 2}, 0)};
  plan.repeats = {{.first_step = 0,
                   .end_step = 1,
                   .trips = 4,
                   .first_buffer = 0,
                   .end_buffer = 3,
                   .moves = {}}};
  plan.repeats[0].moves = {{.buffer = 2, .next = address(1088), .stride_bytes = 64}};
  EXPECT_THAT(LaunchDependencies(plan), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty()));
  plan.repeats[0].moves = {
      {.buffer = 2, .next = address(1088), .stride_bytes = -64, .alternates = true}};
  EXPECT_THAT(LaunchDependencies(plan),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0), ElementsAre(1)));
}

}  // namespace
}  // namespace hone
