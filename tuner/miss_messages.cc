#include "tuner/miss_messages.h"

namespace hone::tuner {

hone::v1::MissInfo ToProto(const tuning_db::Miss& miss) {
  hone::v1::MissInfo info;
  info.set_workload(miss.workload);
  info.set_workload_digest(miss.workload_digest);
  info.set_signature(miss.signature);
  info.set_target(miss.target);
  info.set_tier(miss.tier);
  info.set_model(miss.model);
  info.set_count(miss.count);
  return info;
}

tuning_db::Miss ToMiss(const hone::v1::MissInfo& info) {
  return {.workload = info.workload(),
          .workload_digest = info.workload_digest(),
          .signature = info.signature(),
          .target = info.target(),
          .tier = info.tier(),
          .model = info.model(),
          .count = info.count()};
}

}  // namespace hone::tuner
