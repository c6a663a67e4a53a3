// What a child may say of a round, by what was seen of it.
#include "measure_server/round_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "measure_server/child_channel.h"

namespace hone::measure {
namespace {

using ::testing::HasSubstr;

// Ten chunks of 1 ms, 100 runs each, after a warm-up of 3 runs that took 2 ms.
RoundLog TenChunks() { return {3, 2e6, 100, std::vector<RoundLog::Chunk>(10, {1e6, 1e4, 0, 1})}; }
constexpr double kSaidNs = 2e6 + 10 * (1e6 + 1e4);
constexpr uint64_t kRuns = 3 + 10 * 100;

TEST(RoundCheckTest, WhatTheClockSawIsTrue) {
  EXPECT_EQ(FindFalseTime(TenChunks(), {kSaidNs + 1e5, kSaidNs, kRuns}), "");
  EXPECT_EQ(FindFalseCount(TenChunks(), Plan{}, {kSaidNs, kSaidNs, kRuns}), "");
}

TEST(RoundCheckTest, NoMoreTimeThanPassed) {
  EXPECT_THAT(FindFalseTime(TenChunks(), {kSaidNs - 1e5, kSaidNs, kRuns}),
              HasSubstr("do not agree with the clock"));
}

TEST(RoundCheckTest, NoLessTimeThanItComputed) {
  RoundLog fast = TenChunks();
  for (RoundLog::Chunk& chunk : fast.chunks) chunk.wall_ns /= 10;
  EXPECT_THAT(FindFalseTime(fast, {kSaidNs, kSaidNs, kRuns}),
              HasSubstr("3.100 ms of runs, where 12.100 ms passed"));
  RoundLog faster = TenChunks();
  for (RoundLog::Chunk& chunk : faster.chunks) chunk.wall_ns *= 0.8;
  EXPECT_NE(FindFalseTime(faster, {kSaidNs, kSaidNs, kRuns}), "");
}

TEST(RoundCheckTest, TimeInWhichItDidNotRunIsNotMissed) {
  EXPECT_EQ(FindFalseTime(TenChunks(), {10 * kSaidNs, kSaidNs, kRuns}), "");
  // Other threads of it spin meanwhile.
  EXPECT_EQ(FindFalseTime(TenChunks(), {kSaidNs, 10 * kSaidNs, kRuns}), "");
}

TEST(RoundCheckTest, TheRunsThatWereSeenAndNoOthers) {
  EXPECT_THAT(FindFalseCount(TenChunks(), Plan{}, {kSaidNs, kSaidNs, 13}),
              HasSubstr("says that it ran 1003 times, and was seen to run 13 times"));
}

TEST(RoundCheckTest, AsManyChunksAsThePlanAsksFor) {
  RoundLog fewer = TenChunks();
  fewer.chunks.pop_back();
  EXPECT_THAT(FindFalseCount(fewer, Plan{}, {kSaidNs, kSaidNs, kRuns - 100}),
              HasSubstr("timed 9 chunks"));
}

TEST(RoundCheckTest, ARoundIsSentAsItIs) {
  const RoundLog log = TenChunks();
  const auto decoded = DecodeRound(EncodeRound(log));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->runs, 100);
  EXPECT_EQ(decoded->warmup_runs, 3);
  EXPECT_EQ(decoded->chunks.size(), 10u);
  EXPECT_EQ(decoded->chunks[9].wall_ns, 1e6);
}

TEST(RoundCheckTest, ARoundThatCannotBeIsNone) {
  const auto is_none = [](auto spoil) {
    RoundLog log = TenChunks();
    spoil(log);
    return !DecodeRound(EncodeRound(log));
  };
  EXPECT_TRUE(is_none([](RoundLog& log) { log.runs = 0; }));
  EXPECT_TRUE(is_none([](RoundLog& log) { log.runs = std::numeric_limits<int64_t>::max(); }));
  EXPECT_TRUE(is_none([](RoundLog& log) { log.warmup_runs = -1; }));
  EXPECT_TRUE(is_none([](RoundLog& log) { log.warmup_ns = NAN; }));
  EXPECT_TRUE(is_none([](RoundLog& log) { log.chunks[3].wall_ns = 0; }));
  EXPECT_TRUE(is_none([](RoundLog& log) { log.chunks[3].wall_ns = INFINITY; }));
  EXPECT_TRUE(is_none([](RoundLog& log) { log.chunks[3].calibrator_ns = -1; }));
  EXPECT_TRUE(is_none([](RoundLog& log) { log.chunks.resize(kMaxChunks + 1, log.chunks[0]); }));
  const std::string bytes = EncodeRound(TenChunks());
  for (size_t cut = 1; cut < 32; ++cut) EXPECT_FALSE(DecodeRound(bytes.substr(cut))) << cut;
  EXPECT_FALSE(DecodeRound(""));
}

}  // namespace
}  // namespace hone::measure
