// Describes this machine's processor as a device of the farm.
#ifndef HONE_MEASURE_SERVER_CPU_DEVICE_H_
#define HONE_MEASURE_SERVER_CPU_DEVICE_H_

#include <string>

#include "hone/v1/farm.pb.h"

namespace hone::measure {

// Describes the device "cpu0". It has `threads` cores of this machine (0: all that this process may
// use), and runs code for `target` (canonical text, whose -threads is replaced; empty: this
// machine's own target). If an emulator plays the machine, the device's target and fingerprint say
// so (docs/decisions/0029). Runs the calibrator.
hone::v1::Device DescribeCpu(int threads, const std::string& target, bool is_emulated);

// Runs some passes of the calibrator now, and puts their times into the device.
void Calibrate(hone::v1::Device* device);

// A text of the facts about this machine on which times depend. It counts all cores that are
// online, whether or not this process may use them, since what runs on the others beside a
// measurement may change its times.
std::string HostIdentity(bool is_emulated);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CPU_DEVICE_H_
