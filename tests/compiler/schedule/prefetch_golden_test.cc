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
  options.ahead = Loop("sum.i1");
  ASSERT_TRUE(PrefetchAhead(&nest, Loop("sum.r0"), "b", options).ok());
  ExpectGolden("prefetch", naive, nest);
}

TEST(PrimitivesGolden, PrefetchesARegionInTurns) {
  const loop::Nest naive = MatmulNest(4, 6, 8);
  loop::Nest nest = naive;
  ASSERT_TRUE(
      Split(&nest, Loop("sum.i1"), 2, Tail::kExact, Loop("sum.group"), Loop("sum.i1")).ok());
  PrefetchRegionOptions options;
  options.ahead = {Loop("gone"), Loop("sum.group")};
  options.turns = {Loop("sum.i1")};
  options.line_axis = 1;
  options.line_elements = 4;
  EXPECT_FALSE(PrefetchRegion(&nest, "bias", options).ok());
  const auto refused = [&](const PrefetchRegionOptions& wrong) {
    EXPECT_EQ(PrefetchRegion(&nest, "b", wrong).code(), absl::StatusCode::kFailedPrecondition);
  };
  PrefetchRegionOptions wrong = options;
  wrong.turns = {Loop("gone")};
  refused(wrong);
  wrong = options;
  wrong.line_axis = 2;
  refused(wrong);
  wrong = options;
  wrong.line_elements = 0;
  refused(wrong);
  wrong = options;
  wrong.turns = {Loop("sum.i0"), Loop("sum.i1")};  // sum.i0 is around what is ahead
  refused(wrong);
  wrong.turns = {Loop("sum.group"), Loop("sum.i1")};  // and sum.group is that
  refused(wrong);
  ASSERT_TRUE(PrefetchRegion(&nest, "b", options).ok());
  ExpectGolden("prefetch_region", naive, nest);
  options.ahead = {Loop("gone")};
  EXPECT_FALSE(PrefetchRegion(&nest, "b", options).ok());
}

// Six turns for two channels of three by three taps: three lines each.
TEST(PrimitivesGolden, PrefetchesARegionOfSeveralAxesInTurns) {
  const loop::Nest naive = ConvNest(4, 3, 2);
  loop::Nest nest = naive;
  ASSERT_TRUE(
      Split(&nest, Loop("conv.r0"), 2, Tail::kExact, Loop("conv.chunk"), Loop("conv.r0")).ok());
  ASSERT_TRUE(DecomposeReduction(&nest, Loop("conv.i1")).ok());
  ASSERT_TRUE(Reorder(&nest,
                      {Loop("conv.i1"), Loop("conv.chunk"), Loop("conv.i2"), Loop("conv.r0"),
                       Loop("conv.i3")},
                      true)
                  .ok());
  PrefetchRegionOptions options;
  options.ahead = {Loop("conv.i1"), Loop("conv.chunk")};
  options.turns = {Loop("conv.i2"), Loop("conv.r0")};
  options.line_axis = 0;
  options.line_elements = 1;
  ASSERT_TRUE(PrefetchRegion(&nest, "w", options).ok());
  ExpectGolden("prefetch_region_axes", naive, nest);
}

}  // namespace
}  // namespace hone::schedule
