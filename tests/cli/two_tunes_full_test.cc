#include "gtest/gtest.h"
#include "tests/cli/two_tunes.h"

namespace hone::cli {
namespace {

TEST(TwoTunes, FiftyTimesOneIsKilledAndTheOtherEndsRight) { KillOneOfTwoTunes(50, 39); }

}  // namespace
}  // namespace hone::cli
