// A worker and its devices, as lists of workers show them.
#ifndef HONE_TUNER_FARM_WORKER_INFO_H_
#define HONE_TUNER_FARM_WORKER_INFO_H_

#include "hone/v1/farm.pb.h"
#include "support/clock.h"
#include "tuner/farm/fleet.h"
#include "tuner/farm/lease_manager.h"

namespace hone::tuner {

hone::v1::WorkerInfo InfoOf(const Session& session, const Fleet& fleet, const LeaseManager& leases,
                            const Clock& clock);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_WORKER_INFO_H_
