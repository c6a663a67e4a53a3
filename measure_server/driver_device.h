// A device behind a driver, as a device of the farm.
#ifndef HONE_MEASURE_SERVER_DRIVER_DEVICE_H_
#define HONE_MEASURE_SERVER_DRIVER_DEVICE_H_

#include "hone/v1/farm.pb.h"
#include "runtime/listed_device.h"

namespace hone::measure {

// Its id is the listed name, its fingerprint that of driver, device and machine. Runs the host's
// calibrator (docs/decisions/0036). `is_emulated` is of the machine.
hone::v1::Device DescribeDriverDevice(const ListedDevice& listed, bool is_emulated);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DRIVER_DEVICE_H_
