// Describes a device behind a driver as a device of the farm.
#ifndef HONE_MEASURE_SERVER_DRIVER_DEVICE_H_
#define HONE_MEASURE_SERVER_DRIVER_DEVICE_H_

#include "hone/v1/farm.pb.h"
#include "runtime/listed_device.h"

namespace hone::measure {

// The device's id is the listed name, and its fingerprint is a digest of what identifies driver,
// device and machine (docs/decisions/0036). Runs the calibrator on the host. `is_emulated` says
// whether an emulator plays the machine.
hone::v1::Device DescribeDriverDevice(const ListedDevice& listed, bool is_emulated);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DRIVER_DEVICE_H_
