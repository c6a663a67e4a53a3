// Every zoo model's activations take at most a tenth more memory than are alive at the worst point.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/frontend/zoo/zoo.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

class ZooMemory : public ::testing::TestWithParam<std::string> {};

// The models have a sixteenth of the width: weights play no part, and convolutions keep their
// shapes.
TEST_P(ZooMemory, ArenaIsWithinATenthOfWhatIsAlive) {
  for (const int64_t batch : {1, 4}) {
    const auto model =
        frontend::ZooModel(GetParam(), {.batch = batch, .width_divisor = 16, .extent_divisor = 1});
    ASSERT_TRUE(model.ok()) << model.status();
    const auto compiled = Compiled::Make(*model, {.target = HostTarget(), .require_tuned = false});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const auto arena = static_cast<double>(compiled->report().arena_bytes);
    const auto alive = static_cast<double>(compiled->report().peak_live_bytes);
    fmt::print("{} batch {}: {:.0f} bytes, {:.3f} of what is alive\n", GetParam(), batch, arena,
               arena / std::max(alive, 1.0));
    EXPECT_LE(arena, 1.1 * alive);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ZooMemory, ::testing::ValuesIn(frontend::ZooNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hone::driver
