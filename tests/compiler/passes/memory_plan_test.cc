#include "compiler/passes/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/passes/arena_placement.h"
#include "runtime/module_abi.h"
#include "support/random.h"

namespace hone::passes {
namespace {

struct Program {
  std::vector<PlannedValue> values;
  std::vector<PlannedCall> calls;
};

Program RandomProgram(Random& random, size_t calls) {
  Program program;
  program.values.push_back({1000, true});
  for (size_t i = 0; i < calls; ++i) {
    PlannedCall call;
    for (uint64_t r = 1 + random.Below(3); r > 0; --r) {
      const size_t window = std::min<size_t>(program.values.size(), 1 + random.Below(8));
      call.reads.push_back(static_cast<int>(program.values.size() - 1 - random.Below(window)));
    }
    for (uint64_t w = 1 + random.Below(2); w > 0; --w) {
      call.writes.push_back(static_cast<int>(program.values.size()));
      program.values.push_back(
          {random.Below(5) == 0 ? 0 : 1 + random.Below(100'000), random.Below(9) == 0});
    }
    if (random.Below(3) == 0) call.workspace_bytes = 1 + random.Below(50'000);
    program.calls.push_back(call);
  }
  return program;
}

Program RandomProgram(Random& random) { return RandomProgram(random, 1 + random.Below(40)); }

struct LivePiece {
  uint64_t begin, end;
  int first, last;
};

std::vector<LivePiece> Pieces(const Program& program, const MemoryPlan& plan) {
  std::vector<LivePiece> pieces;
  for (size_t v = 0; v < program.values.size(); ++v) {
    int first = -1;
    int last = -1;
    for (size_t c = 0; c < program.calls.size(); ++c) {
      const auto has = [&](const std::vector<int>& list) {
        return std::find(list.begin(), list.end(), static_cast<int>(v)) != list.end();
      };
      if (has(program.calls[c].writes)) first = last = static_cast<int>(c);
      if (has(program.calls[c].reads)) last = static_cast<int>(c);
    }
    if (program.values[v].external || first < 0) continue;
    pieces.push_back(
        {plan.value_offsets[v], plan.value_offsets[v] + program.values[v].bytes, first, last});
  }
  for (size_t c = 0; c < program.calls.size(); ++c) {
    const int at = static_cast<int>(c);
    pieces.push_back({plan.workspace_offsets[c],
                      plan.workspace_offsets[c] + program.calls[c].workspace_bytes, at, at});
  }
  return pieces;
}

void ExpectNoOverlap(const Program& program, const MemoryPlan& plan, uint64_t seed) {
  const std::vector<LivePiece> pieces = Pieces(program, plan);
  for (size_t i = 0; i < pieces.size(); ++i) {
    ASSERT_EQ(pieces[i].begin % HONE_BUFFER_ALIGNMENT, 0U);
    ASSERT_LE(pieces[i].end, plan.arena_bytes);
    for (size_t j = 0; j < i; ++j) {
      const bool together = pieces[i].first <= pieces[j].last && pieces[j].first <= pieces[i].last;
      const bool overlap = pieces[i].begin < pieces[j].end && pieces[j].begin < pieces[i].end;
      ASSERT_FALSE(together && overlap) << seed;
    }
  }
  ASSERT_GE(plan.arena_bytes, plan.peak_live_bytes);
  ASSERT_EQ(PeakLiveBytes(program.values, program.calls), plan.peak_live_bytes);
}

TEST(MemoryPlan, NoTwoLiveBuffersOverlap) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Program program = RandomProgram(random);
    ExpectNoOverlap(program, PlanMemory(program.values, program.calls), seed);
  }
}

// Every call's result is kept to the end: more pairs are alive together than can be looked at.
TEST(MemoryPlan, ThousandsOfValuesThatAreAllAliveAreStackedUp) {
  Random random(1);
  Program program{{{1000, true}}, {}};
  PlannedCall last;
  for (int value = 1; value <= 3000; ++value) {
    program.values.push_back({1 + random.Below(100'000)});
    program.calls.push_back({{0}, {value}, random.Below(1000)});
    last.reads.push_back(value);
  }
  program.values.push_back({1000, true});
  last.writes = {3001};
  program.calls.push_back(last);
  const MemoryPlan plan = PlanMemory(program.values, program.calls);
  std::vector<LivePiece> pieces;
  for (int value = 1; value <= 3000; ++value) {
    const uint64_t begin = plan.value_offsets[value];
    pieces.push_back({begin, begin + program.values[value].bytes, 0, 0});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const LivePiece& a, const LivePiece& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < pieces.size(); ++i) ASSERT_LE(pieces[i - 1].end, pieces[i].begin);
  EXPECT_LE(static_cast<double>(plan.arena_bytes), 1.1 * static_cast<double>(plan.peak_live_bytes));
}

// Between two barriers, calls may run in any order at once: no conflict may be among them.
TEST(MemoryPlan, CallsWithoutABarrierBetweenThemDoNotConflict) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Program program = RandomProgram(random);
    const MemoryPlan plan = PlanMemory(program.values, program.calls);
    const auto range = [&](int v) {
      return std::pair(plan.value_offsets[v], plan.value_offsets[v] + program.values[v].bytes);
    };
    using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;
    const auto ranges = [&](size_t c, bool writes) {
      Ranges result;
      for (int v : writes ? program.calls[c].writes : program.calls[c].reads) {
        if (!program.values[v].external) result.push_back(range(v));
      }
      if (writes) {
        result.emplace_back(plan.workspace_offsets[c],
                            plan.workspace_offsets[c] + program.calls[c].workspace_bytes);
      }
      return result;
    };
    const auto overlap = [](const Ranges& a, const Ranges& b) {
      for (const auto& x : a) {
        for (const auto& y : b) {
          if (x.first < y.second && y.first < x.second) return true;
        }
      }
      return false;
    };
    for (size_t later = 0; later < program.calls.size(); ++later) {
      for (size_t c = later; c > 0 && !plan.barrier_before[c]; --c) {
        const size_t earlier = c - 1;
        for (int v : program.calls[later].reads) {
          if (program.values[v].bytes == 0) continue;  // nothing is read
          const auto& writes = program.calls[earlier].writes;
          ASSERT_EQ(std::count(writes.begin(), writes.end(), v), 0) << seed;
        }
        ASSERT_FALSE(overlap(ranges(later, true), ranges(earlier, true))) << seed;
        ASSERT_FALSE(overlap(ranges(later, true), ranges(earlier, false))) << seed;
        ASSERT_FALSE(overlap(ranges(later, false), ranges(earlier, true))) << seed;
      }
    }
  }
}

// For each call of a program without repeats or parts those that it depends on, directly or not.
std::vector<std::vector<bool>> DependenciesOf(const Program& program) {
  std::vector<int> writers(program.values.size(), -1);
  std::vector<std::vector<bool>> depends;
  for (size_t c = 0; c < program.calls.size(); ++c) {
    std::vector<bool> on(program.calls.size(), false);
    for (const int value : program.calls[c].reads) {
      const int writer = writers[value];
      if (writer < 0 || program.values[value].bytes == 0) continue;
      on[writer] = true;
      for (size_t i = 0; i < c; ++i) {
        if (depends[writer][i]) on[i] = true;
      }
    }
    for (const int value : program.calls[c].writes) writers[value] = static_cast<int>(c);
    depends.push_back(on);
  }
  return depends;
}

TEST(MemoryPlan, ByDependencyMemoryIsUsedAgainOnlyByWhatDependsOnAllItsUsers) {
  int apart = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Program program = RandomProgram(random);
    const MemoryPlan plan = PlanMemory(program.values, program.calls, CallOrder::kByDependency);
    ExpectNoOverlap(program, plan, seed);
    const MemoryPlan in_turn = PlanMemory(program.values, program.calls);
    EXPECT_LE(plan.arena_bytes, 2 * in_turn.arena_bytes) << seed;
    // Some would take too much memory, and some are alike.
    if (plan.value_offsets == in_turn.value_offsets) continue;
    apart += 1;
    const std::vector<std::vector<bool>> depends = DependenciesOf(program);
    struct Use {
      int call;
      ByteRange range;
      bool writes;
    };
    std::vector<Use> uses;  // in the order of the calls
    for (size_t c = 0; c < program.calls.size(); ++c) {
      const int at = static_cast<int>(c);
      const auto add = [&](int v, bool writes) {
        const uint64_t begin = plan.value_offsets[v];
        if (program.values[v].external) return;
        uses.push_back({at, {begin, begin + program.values[v].bytes}, writes});
      };
      for (const int v : program.calls[c].reads) add(v, false);
      for (const int v : program.calls[c].writes) add(v, true);
      const uint64_t begin = plan.workspace_offsets[c];
      uses.push_back({at, {begin, begin + program.calls[c].workspace_bytes}, true});
    }
    for (size_t i = 0; i < uses.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const bool overlap = std::max(uses[i].range.begin, uses[j].range.begin) <
                             std::min(uses[i].range.end, uses[j].range.end);
        const bool is_ordered = uses[i].writes || uses[j].writes;
        if (!overlap || !is_ordered || uses[i].call == uses[j].call) continue;
        ASSERT_TRUE(depends[uses[i].call][uses[j].call])
            << seed << ": call " << uses[i].call << " waits for " << uses[j].call;
      }
    }
  }
  EXPECT_GE(apart, 50);
}

// Each branch has a large value of its own, which all branches in turn could share.
TEST(MemoryPlan, ByDependencyMemoryIsAtMostTwiceThatOfCallsInTurn) {
  constexpr int kBranches = 64;
  std::vector<PlannedValue> values = {{64, true}};
  std::vector<PlannedCall> calls;
  PlannedCall join;
  for (int branch = 0; branch < kBranches; ++branch) {
    values.push_back({6400});
    values.push_back({64});
    const int last = static_cast<int>(values.size()) - 1;
    calls.push_back({{0}, {last - 1}, 0});
    calls.push_back({{last - 1}, {last}, 0});
    join.reads.push_back(last);
  }
  values.push_back({64, true});
  join.writes = {static_cast<int>(values.size()) - 1};
  calls.push_back(join);
  const MemoryPlan in_turn = PlanMemory(values, calls);
  const MemoryPlan plan = PlanMemory(values, calls, CallOrder::kByDependency);
  EXPECT_EQ(plan.value_offsets, in_turn.value_offsets);
  EXPECT_EQ(plan.arena_bytes, in_turn.arena_bytes);
}

// Two branches of two calls each, and a chain behind them.
TEST(MemoryPlan, ByDependencyBranchesShareNoMemory) {
  enum { kInput, kLeft, kLeftEnd, kRight, kRightEnd, kJoined, kNext, kOutput };
  std::vector<PlannedValue> values(8, {64, false});
  values[kInput].external = values[kOutput].external = true;
  const std::vector<PlannedCall> calls = {{{kInput}, {kLeft}, 64},
                                          {{kLeft}, {kLeftEnd}, 0},
                                          {{kInput}, {kRight}, 64},
                                          {{kRight}, {kRightEnd}, 0},
                                          {{kLeftEnd, kRightEnd}, {kJoined}, 0},
                                          {{kJoined}, {kNext}, 64},
                                          {{kNext}, {kOutput}, 0}};
  EXPECT_EQ(PlanMemory(values, calls).arena_bytes, 3 * 64);
  const MemoryPlan plan = PlanMemory(values, calls, CallOrder::kByDependency);
  EXPECT_EQ(plan.arena_bytes, 4 * 64);
  EXPECT_EQ(plan.barrier_before, (std::vector<bool>{false, true, false, true, true, true, true}));
}

TEST(MemoryPlan, IndependentCallsNeedNoBarrier) {
  const MemoryPlan plan = PlanMemory({{64, true}, {64}, {64}, {64, true}},
                                     {{{0}, {1}, 0}, {{0}, {2}, 0}, {{1, 2}, {3}, 0}});
  EXPECT_EQ(plan.barrier_before, (std::vector<bool>{false, false, true}));
}

// Two calls write parts of a value, in the arena or an output, that a third reads as a whole.
TEST(MemoryPlan, PartsLieInTheirValue) {
  for (const bool external : {false, true}) {
    const std::vector<PlannedValue> values = {{64, true},         {256, external},
                                              {128, false, 1},    {128, false, 1, 128},
                                              {64, false, 3, 64}, {64, true}};
    const MemoryPlan plan =
        PlanMemory(values, {{{0}, {2}, 0}, {{0}, {3}, 0}, {{2, 4}, {5}, 0}, {{1}, {5}, 0}});
    EXPECT_EQ(plan.barrier_before, (std::vector<bool>{false, false, true, true}));
    const uint64_t whole = plan.value_offsets[1];
    EXPECT_EQ(plan.value_offsets[2], whole);
    EXPECT_EQ(plan.value_offsets[3], whole + 128);
    EXPECT_EQ(plan.value_offsets[4], whole + 192);
    EXPECT_EQ(plan.arena_bytes, external ? 0 : 256);
  }
}

// What is written after a part is, and before its value is read, lies beside both.
TEST(MemoryPlan, ValuesLiveFromTheirFirstPart) {
  const MemoryPlan plan =
      PlanMemory({{64, true}, {128}, {64, false, 1}, {64}, {64, false, 1, 64}, {64, true}},
                 {{{0}, {2}, 0}, {{2}, {3}, 0}, {{3}, {4}, 0}, {{1}, {5}, 0}});
  EXPECT_EQ(plan.arena_bytes, 192U);
  EXPECT_EQ(plan.barrier_before, (std::vector<bool>{false, true, true, true}));
}

// Residual nets as in ResNet, dense blocks as in DenseNet, branches as in Inception.
Program Residual(int blocks) {
  Program program{{{150'528 * 4, true}}, {}};
  uint64_t bytes = 802'816 * 4;
  int x = 0;
  const auto call = [&](std::vector<int> reads, uint64_t size) {
    const int value = static_cast<int>(program.values.size());
    program.values.push_back({size});
    program.calls.push_back({std::move(reads), {value}, 0});
    return value;
  };
  x = call({x}, bytes);
  x = call({x}, bytes /= 4);
  for (int i = 0; i < blocks; ++i) {
    const bool down = i % 4 == 3;
    if (down) bytes /= 2;
    const int a = call({x}, bytes);
    const int shortcut = down ? call({x}, bytes) : x;
    x = call({a, shortcut}, bytes);
  }
  return program;
}

Program Dense(int layers) {
  Program program{{{1000, true}}, {}};
  std::vector<int> features;
  int x = 0;
  for (int i = 0; i < layers; ++i) {
    const int joined = static_cast<int>(program.values.size());
    program.values.push_back({static_cast<uint64_t>(100'000 + 12'800 * i)});
    program.calls.push_back({{x}, {joined}, 0});
    const int wide = joined + 1;
    program.values.push_back({50'000});
    program.calls.push_back({{joined}, {wide}, 10'000});
    const int next = joined + 2;
    program.values.push_back({static_cast<uint64_t>(100'000 + 12'800 * (i + 1))});
    program.calls.push_back({{joined, wide}, {next}, 0});
    x = next;
  }
  return program;
}

TEST(MemoryPlan, RandomGraphsStayWithinATenthOfWhatIsAlive) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Program program = RandomProgram(random);
    const MemoryPlan plan = PlanMemory(program.values, program.calls);
    ASSERT_LE(static_cast<double>(plan.arena_bytes),
              1.1 * static_cast<double>(plan.peak_live_bytes))
        << seed;
  }
}

TEST(MemoryPlan, LargeRandomGraphsStayWithinATenthOfWhatIsAlive) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Random random(seed);
    const Program program = RandomProgram(random, 10'000);
    const MemoryPlan plan = PlanMemory(program.values, program.calls);
    EXPECT_LE(static_cast<double>(plan.arena_bytes),
              1.1 * static_cast<double>(plan.peak_live_bytes))
        << seed;
  }
}

TEST(MemoryPlan, TypicalModelsStayWithinATenthOfWhatIsAlive) {
  for (const Program& program : {Residual(16), Residual(50), Dense(40)}) {
    const MemoryPlan plan = PlanMemory(program.values, program.calls);
    EXPECT_LE(static_cast<double>(plan.arena_bytes),
              1.1 * static_cast<double>(plan.peak_live_bytes));
  }
}

// A state starts in what call 0 writes, and then has two places in turn.
TEST(MemoryPlan, WhatARepeatSharesOrCarriesLivesThroughAllTrips) {
  constexpr uint64_t kBytes = 128;
  enum { kInput, kStart, kState, kFirst, kSecond, kPlaces, kNext, kLast, kOutput };
  Program program;
  program.values.resize(9, {kBytes, false});
  program.values[kInput].external = program.values[kOutput].external = true;
  program.values[kState].within = kStart;
  program.values[kState].follows = kNext;
  program.values[kPlaces].bytes = 2 * kBytes;
  program.values[kNext].within = program.values[kLast].within = kPlaces;
  program.values[kNext].stride_bytes = kBytes;
  program.values[kNext].alternates = true;
  program.calls = {{{kInput}, {kStart}, 0},
                   {{kState}, {kFirst}, 0, 0},
                   {{kFirst}, {kSecond}, 0, 0},
                   {{kSecond}, {kNext}, 0, 0},
                   {{kInput, kLast}, {kOutput}, 0}};
  for (const CallOrder order : {CallOrder::kInTurn, CallOrder::kByDependency}) {
    const MemoryPlan plan = PlanMemory(program.values, program.calls, order);
    const auto overlap = [&](int a, int b) {
      return plan.value_offsets[a] < plan.value_offsets[b] + program.values[b].bytes &&
             plan.value_offsets[b] < plan.value_offsets[a] + program.values[a].bytes;
    };
    for (const int value : {kFirst, kSecond}) {
      EXPECT_FALSE(overlap(kStart, value)) << value;
      EXPECT_FALSE(overlap(kPlaces, value)) << value;
    }
    EXPECT_FALSE(overlap(kStart, kPlaces));
    // The first call of a trip reads what the last of the trip before wrote.
    EXPECT_EQ(plan.barrier_before, (std::vector<bool>{false, true, true, true, true}));
  }
  EXPECT_EQ(PlaceInTrip(program.values, kState, 0).value, kStart);
  for (int64_t trip = 1; trip < 5; ++trip) {
    const Place place = PlaceInTrip(program.values, kState, trip);
    EXPECT_EQ(place.value, kPlaces);
    EXPECT_EQ(place.offset_bytes, trip % 2 == 1 ? 0 : kBytes) << trip;
  }
}

// A row is taken for all of its stack, so the next trip waits before it writes another; the calls
// of one trip, which share nothing that is written, do not.
TEST(MemoryPlan, BarriersOfARepeatAreThoseOfItsSecondTripToo) {
  Program program;
  program.values = {{1024, true}, {64, false, 0}, {1024, true}, {64, false, 2}, {1024, true}};
  program.values[1].stride_bytes = program.values[3].stride_bytes = 64;
  program.calls = {{{1}, {3}, 0, 0}, {{1}, {4}, 0, 0}};
  EXPECT_EQ(PlanMemory(program.values, program.calls).barrier_before,
            (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace hone::passes
