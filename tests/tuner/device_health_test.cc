// When a device is left alone, and for how long.
#include "tuner/farm/device_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::tuner {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

TEST(DeviceHealth, RestsAfterTwoLossesInARow) {
  DeviceHealth health;
  health.Lost({}, 1, 0, "one");
  EXPECT_FALSE(health.IsQuarantined(0));
  health.Lost({}, 2, 0, "two");
  EXPECT_TRUE(health.IsQuarantined(0));
  EXPECT_THAT(health.Reason(kSecond), HasSubstr("in 9 s"));
  EXPECT_FALSE(health.IsOnTrial(9 * kSecond));
  EXPECT_FALSE(health.IsQuarantined(10 * kSecond));
  EXPECT_TRUE(health.IsOnTrial(10 * kSecond));
  EXPECT_EQ(health.Reason(10 * kSecond), "");
}

TEST(DeviceHealth, RestsTwiceAsLongEachTimeUpToALimit) {
  DeviceHealth health;
  int64_t now = 0;
  health.Lost({}, 1, now, "");
  for (const int64_t seconds : {10, 20, 40, 80, 160, 320, 600, 600}) {
    health.Lost({}, 1, now, "");
    EXPECT_TRUE(health.IsQuarantined(now + seconds * kSecond - 1)) << seconds;
    health.Lost({}, 2, now + 1, "given before, lost later");
    now += seconds * kSecond;
    EXPECT_FALSE(health.IsQuarantined(now)) << seconds;
  }
}

TEST(DeviceHealth, TellsATrialThatIsLostAloneFromADeviceThatLosesAny) {
  DeviceHealth health;
  EXPECT_TRUE(health.Lost({}, 7, 0, "")) << "the device was sound until then";
  EXPECT_TRUE(health.Lost({}, 7, 0, ""));
  EXPECT_FALSE(health.Lost({}, 8, 0, "")) << "it loses any";
  EXPECT_FALSE(health.Lost({}, 7, 0, ""));
  EXPECT_FALSE(health.Lost({}, 7, 0, ""));
}

TEST(DeviceHealth, GoesOnFromWhatWasStored) {
  DeviceHealth health(4, 2, 20 * kSecond, "it hangs");
  EXPECT_TRUE(health.IsQuarantined(19 * kSecond));
  EXPECT_THAT(health.Reason(0), HasSubstr("it hangs"));
  EXPECT_TRUE(health.IsOnTrial(20 * kSecond));
  EXPECT_FALSE(health.Lost({}, 7, 20 * kSecond, "")) << "not the trial's";
  EXPECT_EQ(health.RestNs(20 * kSecond), 40 * kSecond) << "the third rest";
}

}  // namespace
}  // namespace hone::tuner
