// Misses as they travel (proto/hone/v1/log.proto).
#ifndef HONE_TUNER_MISS_MESSAGES_H_
#define HONE_TUNER_MISS_MESSAGES_H_

#include "hone/v1/log.pb.h"
#include "tuning_db/types.h"

namespace hone::tuner {

hone::v1::MissInfo ToProto(const tuning_db::Miss& miss);
tuning_db::Miss ToMiss(const hone::v1::MissInfo& info);

}  // namespace hone::tuner

#endif  // HONE_TUNER_MISS_MESSAGES_H_
