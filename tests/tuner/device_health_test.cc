// When a device is left alone, and for how long.
#include "tuner/farm/device_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/clock.h"

namespace hone::tuner {
namespace {

using ::testing::HasSubstr;

TEST(DeviceHealth, RestsAfterTwoLossesInARow) {
  DeviceHealth health;
  health.Lost({}, 1, 0, "one");
  EXPECT_FALSE(health.IsQuarantined(0));
  health.Lost({}, 2, 0, "two");
  EXPECT_TRUE(health.IsQuarantined(0));
  EXPECT_THAT(health.Reason(kSecondNs), HasSubstr("in 9 s"));
  EXPECT_FALSE(health.IsOnTrial(9 * kSecondNs));
  EXPECT_FALSE(health.IsQuarantined(10 * kSecondNs));
  EXPECT_TRUE(health.IsOnTrial(10 * kSecondNs));
  EXPECT_EQ(health.Reason(10 * kSecondNs), "");
}

TEST(DeviceHealth, RestsTwiceAsLongEachTimeUpToALimit) {
  DeviceHealth health;
  int64_t now = 0;
  health.Lost({}, 1, now, "");
  for (const int64_t seconds : {10, 20, 40, 80, 160, 320, 600, 600}) {
    health.Lost({}, 1, now, "");
    EXPECT_TRUE(health.IsQuarantined(now + seconds * kSecondNs - 1)) << seconds;
    health.Lost({}, 2, now + 1, "given before, lost later");
    now += seconds * kSecondNs;
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
  DeviceHealth health(4, 2, 20 * kSecondNs, "it hangs");
  EXPECT_TRUE(health.IsQuarantined(19 * kSecondNs));
  EXPECT_THAT(health.Reason(0), HasSubstr("it hangs"));
  EXPECT_TRUE(health.IsOnTrial(20 * kSecondNs));
  EXPECT_FALSE(health.Lost({}, 7, 20 * kSecondNs, "")) << "not the trial's";
  EXPECT_EQ(health.RestNs(20 * kSecondNs), 40 * kSecondNs) << "the third rest";
}

}  // namespace
}  // namespace hone::tuner
