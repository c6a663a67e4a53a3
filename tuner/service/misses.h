// Implements RecordMisses and ListMisses of LogService: misses are kernels that a compile found no
// tuned config for.
#ifndef HONE_TUNER_SERVICE_MISSES_H_
#define HONE_TUNER_SERVICE_MISSES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hone/v1/log.pb.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// kInvalidArgument for more misses, or larger ones, than a job may have tasks; nothing is recorded
// then.
absl::Status RecordMisses(tuning_db::Store& store, const hone::v1::RecordMissesRequest& request);

// A page may have fewer entries than were asked for: kernels that are tuned by now are left out.
// kInvalidArgument for a page token that this service did not give out.
absl::StatusOr<hone::v1::ListMissesResponse> ListMisses(tuning_db::Store& store,
                                                        const hone::v1::ListMissesRequest& request);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_MISSES_H_
