#include "gtest/gtest.h"
#include "tests/cli/two_tunes.h"

namespace hone::cli {
namespace {

TEST(TwoTunes, OneIsKilledAndTheOtherEndsRight) { KillOneOfTwoTunes(6, 2026); }

}  // namespace
}  // namespace hone::cli
