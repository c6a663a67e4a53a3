#include "cli/time_text.h"

#include "gtest/gtest.h"
#include "support/clock.h"

namespace hone::cli {
namespace {

TEST(TimeText, IsRoundedToTheNearest) {
  constexpr int64_t kNow = int64_t{1'700'000'000} * kSecondNs;
  EXPECT_EQ(TimeFrom(kNow - 20 * kSecondNs, kNow), "now");
  EXPECT_EQ(TimeFrom(kNow - 100 * kSecondNs, kNow), "2 min ago");
  EXPECT_EQ(TimeFrom(kNow + kHourNs - kSecondNs, kNow), "in 60 min");
  EXPECT_EQ(TimeFrom(kNow + 3 * kHourNs - kSecondNs, kNow), "in 3 h");
  EXPECT_EQ(TimeFrom(kNow + 90 * kDayNs - kSecondNs, kNow), "in 90 days")
      << "of a grant that was made a second ago";
  EXPECT_EQ(TimeFrom(kNow - 2 * kDayNs, kNow), "2 days ago");
}

}  // namespace
}  // namespace hone::cli
