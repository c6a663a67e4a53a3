// Describes this machine's processor as a device of the farm.
#ifndef HONE_MEASURE_SERVER_CPU_DEVICE_H_
#define HONE_MEASURE_SERVER_CPU_DEVICE_H_

#include <string>

#include "hone/v1/farm.pb.h"

namespace hone::measure {

// The device "cpu0": `threads` cores of this machine (0: all that this process may use), for code
// for `target` (canonical text, whose -threads is replaced; empty: this machine's own). If an
// emulator plays the machine, target and fingerprint say so (docs/decisions/0029). Runs the
// calibrator.
hone::v1::Device DescribeCpu(int threads, const std::string& target, bool is_emulated);

// Runs some passes of the calibrator now, and puts their times into the device.
void Calibrate(hone::v1::Device* device);

// A text of what times on this machine depend on. It counts all cores that are online, whether or
// not this process may use them, since what may run beside a measurement is part of the machine.
std::string HostIdentity(bool is_emulated);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CPU_DEVICE_H_
