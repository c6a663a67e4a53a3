// This machine's cores, as a device of the farm.
#ifndef HONE_MEASURE_SERVER_CPU_DEVICE_H_
#define HONE_MEASURE_SERVER_CPU_DEVICE_H_

#include <string>

#include "hone/v1/farm.pb.h"

namespace hone::measure {

// "cpu0": `threads` cores of this machine (0: all that this process may use), for code of `target`
// (canonical text, its -threads aside; empty: this machine's own). Where an emulator plays them,
// both target and fingerprint say so (docs/decisions/0029). Runs the calibrator.
hone::v1::Device DescribeCpu(int threads, const std::string& target, bool is_emulated);

// Says what a few passes of the calibrator take here and now.
void Calibrate(hone::v1::Device* device);

// What times of this machine depend on, with all its cores, whichever of them this process may use:
// who else may run beside a measurement is part of the machine.
std::string HostIdentity(bool is_emulated);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CPU_DEVICE_H_
