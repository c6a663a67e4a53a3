// This machine, as a device of the farm.
#ifndef HONE_MEASURE_SERVER_DEVICE_H_
#define HONE_MEASURE_SERVER_DEVICE_H_

#include <string>

#include "hone/v1/farm.pb.h"

namespace hone::measure {

// "cpu0": `threads` cores of this machine (0: all that this process may use), for code of `target`
// (canonical text, its -threads aside; empty: this machine's own). Runs the calibrator.
hone::v1::Device DescribeCpu(int threads, const std::string& target = "");

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DEVICE_H_
