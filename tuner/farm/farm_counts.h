// The dispatcher's running counters.
#ifndef HONE_TUNER_FARM_FARM_COUNTS_H_
#define HONE_TUNER_FARM_FARM_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "support/histogram.h"

namespace hone::tuner {

struct FarmCounts {
  std::map<std::string, uint64_t> settled;  // results, by outcome
  uint64_t leases_lost = 0;                 // that ended without a result
  Histogram settle_seconds{ShortTimes()};
  Histogram lease_seconds{LongTimes()};
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_FARM_COUNTS_H_
