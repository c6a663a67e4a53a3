// A snapshot of the dispatcher's figures, for monitoring.
#ifndef HONE_TUNER_FARM_FARM_FIGURES_H_
#define HONE_TUNER_FARM_FARM_FIGURES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "support/histogram.h"

namespace hone::tuner {

// All values are of one moment. Totals count since the daemon started.
struct FarmFigures {
  std::map<std::string, size_t> queued;     // trials that wait for a device, by kind of target
  size_t underway = 0;                      // trials that the store is to lease or to release
  std::map<std::string, size_t> leases;     // open ones: "waiting", "running", "settling", "away"
  std::map<std::string, size_t> workers;    // by state: "idle", "measuring", "draining", ...
  std::map<std::string, size_t> devices;    // by state: "idle", "busy", "away", "quarantined", ...
  size_t stream_messages = 0;               // that wait to be written to workers, all together
  size_t longest_stream_queue = 0;          // of one worker
  std::map<std::string, uint64_t> settled;  // results, by outcome
  uint64_t leases_lost = 0;                 // that ended without a result
  Histogram::Totals settle_seconds;         // from a result's arrival until it is in the store
  Histogram::Totals lease_seconds;          // from the offer of a lease to its end
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_FARM_FIGURES_H_
