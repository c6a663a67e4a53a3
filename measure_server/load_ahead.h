// How many candidates a device loads while one is measured.
#ifndef HONE_MEASURE_SERVER_LOAD_AHEAD_H_
#define HONE_MEASURE_SERVER_LOAD_AHEAD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hone/v1/farm.pb.h"

namespace hone::measure {

// The most that are loaded if the user names no number. Each has a context, which takes half a GiB
// of a GPU's memory.
inline constexpr uint32_t kMostAhead = 4;

// `device` is one of `devices`, which are all of the worker's. GPUs of CUDA load one candidate on
// each of the `spare_cores`, which no measurement takes, but `most` at most (nullopt: kMostAhead).
// Other devices load none, and no device does beside the processor, for kernels may run there on
// the cores that loading takes.
uint32_t CandidatesAheadOf(const hone::v1::Device& device,
                           const std::vector<hone::v1::Device>& devices, uint32_t spare_cores,
                           std::optional<uint32_t> most);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_LOAD_AHEAD_H_
