// A device whose cores go and come back.
#include "measure_server/device_watch.h"

#include <gtest/gtest.h>

namespace hone::measure {
namespace {

namespace v1 = hone::v1;

TEST(DeviceWatchTest, ADeviceIsAwayWhileItHasTooFewCoresAndCalibratedWhenItIsBack) {
  v1::Device device;
  device.set_id("cpu0");
  device.set_threads(2);
  device.set_calibrator_ns(100);
  RouterOptions options;
  *options.hello.add_devices() = device;
  Router router(options, &Clock::Real());
  std::vector<v1::WorkRequest> sent;
  router.Connected([&](v1::WorkRequest message) { sent.push_back(std::move(message)); });
  v1::WorkResponse welcome;
  welcome.mutable_welcome()->set_protocol(3);
  router.Receive(welcome);
  sent.clear();

  int cores = 4;
  const auto calibrate = [](v1::Device* calibrated) { calibrated->set_calibrator_ns(120); };
  DeviceWatch watch(device, {[&] { return cores; }, calibrate}, &router);
  watch.Look();
  cores = 2;  // enough
  watch.Look();
  EXPECT_TRUE(sent.empty());
  cores = 1;
  watch.Look();
  watch.Look();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].device_update().unplugged());
  EXPECT_EQ(sent[0].device_update().reason(), "it measures on 2 cores, of which 1 are left");
  cores = 3;
  watch.Look();
  watch.Look();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_FALSE(sent[1].device_update().unplugged());
  EXPECT_EQ(sent[1].device_update().device().calibrator_ns(), 120);
  EXPECT_EQ(sent[2].window().device(), "cpu0");
}

}  // namespace
}  // namespace hone::measure
