// Makes the messages that describe a worker and its devices in lists of workers.
#ifndef HONE_TUNER_FARM_WORKER_INFO_H_
#define HONE_TUNER_FARM_WORKER_INFO_H_

#include "hone/v1/farm.pb.h"
#include "support/clock.h"
#include "tuner/farm/fleet.h"
#include "tuner/farm/lease_manager.h"
#include "tuning_db/quarantine_store.h"

namespace hone::tuner {

enum class Detail {
  kShort,
  kAll,  // with each lease, and what devices told of their calibrations
};

hone::v1::WorkerInfo InfoOf(const Session& session, const Fleet& fleet, const LeaseManager& leases,
                            const Clock& clock, Detail detail);

hone::v1::Quarantine MessageOf(const tuning_db::Quarantine& quarantine);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_WORKER_INFO_H_
