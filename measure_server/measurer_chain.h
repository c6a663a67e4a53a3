// Makes the measurer of a device with all its decorators.
#ifndef HONE_MEASURE_SERVER_MEASURER_CHAIN_H_
#define HONE_MEASURE_SERVER_MEASURER_CHAIN_H_

#include <memory>

#include "hone/v1/farm.pb.h"
#include "measure_server/measurer.h"
#include "measure_server/zygote.h"
#include "support/clock.h"

namespace hone::measure {

// `runner` runs the candidates, and `host`, which runs code for this machine, the references; both
// may be the same. Runners and clock must outlive the measurer.
std::unique_ptr<Measurer> MakeMeasurer(const hone::v1::Device& device, CandidateRunner* runner,
                                       CandidateRunner* host, const Clock* clock);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_MEASURER_CHAIN_H_
