// Primitives that fetch ahead of what reads: golden/<name>.txt holds the nest after each.
#include "compiler/schedule/primitives/fission.h"
#include "compiler/schedule/primitives/prefetch.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/split.h"
#include "gtest/gtest.h"
#include "tests/compiler/schedule/golden_nest.h"
#include "tests/compiler/schedule/test_nests.h"

namespace hone::schedule {
namespace {

TEST(PrimitivesGolden, PrefetchAhead) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  PrefetchOptions options;
  options.ahead = "sum.i1";
  ASSERT_TRUE(PrefetchAhead(&nest, "sum.r0", "b", options).ok());
  ExpectGolden("prefetch", naive, nest);
}

TEST(PrimitivesGolden, PrefetchesARegionInTurns) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "sum.i1", 2, Tail::kExact, "sum.group", "sum.i1").ok());
  PrefetchRegionOptions options;
  options.ahead = {"gone", "sum.group"};
  options.turns = {"sum.i1"};
  options.line_axis = 1;
  options.line_elements = 4;
  EXPECT_FALSE(PrefetchRegion(&nest, "bias", options).ok());
  const auto refused = [&](const PrefetchRegionOptions& wrong) {
    EXPECT_EQ(PrefetchRegion(&nest, "b", wrong).code(), absl::StatusCode::kFailedPrecondition);
  };
  PrefetchRegionOptions wrong = options;
  wrong.turns = {"gone"};
  refused(wrong);
  wrong = options;
  wrong.line_axis = 2;
  refused(wrong);
  wrong = options;
  wrong.line_elements = 0;
  refused(wrong);
  wrong = options;
  wrong.turns = {"sum.i0", "sum.i1"};  // sum.i0 is around what is ahead
  refused(wrong);
  wrong.turns = {"sum.group", "sum.i1"};  // and sum.group is that
  refused(wrong);
  ASSERT_TRUE(PrefetchRegion(&nest, "b", options).ok());
  ExpectGolden("prefetch_region", naive, nest);
  options.ahead = {"gone"};
  EXPECT_FALSE(PrefetchRegion(&nest, "b", options).ok());
}

// Six turns for two channels of three by three taps: three lines each.
TEST(PrimitivesGolden, PrefetchesARegionOfSeveralAxesInTurns) {
  const loop::Nest naive = ConvNest(4, 3, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(Split(&nest, "conv.r0", 2, Tail::kExact, "conv.chunk", "conv.r0").ok());
  ASSERT_TRUE(DecomposeReduction(&nest, "conv.i1").ok());
  ASSERT_TRUE(
      Reorder(&nest, {"conv.i1", "conv.chunk", "conv.i2", "conv.r0", "conv.i3"}, true).ok());
  PrefetchRegionOptions options;
  options.ahead = {"conv.i1", "conv.chunk"};
  options.turns = {"conv.i2", "conv.r0"};
  options.line_axis = 0;
  options.line_elements = 1;
  ASSERT_TRUE(PrefetchRegion(&nest, "w", options).ok());
  ExpectGolden("prefetch_region_axes", naive, nest);
}

}  // namespace
}  // namespace hone::schedule
