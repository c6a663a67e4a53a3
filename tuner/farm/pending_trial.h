// A trial that somebody wants measured, from the request to the report.
#ifndef HONE_TUNER_FARM_PENDING_TRIAL_H_
#define HONE_TUNER_FARM_PENDING_TRIAL_H_

#include <cstdint>
#include <set>
#include <string>

#include "tuner/measurer.h"

namespace hone::tuner {

struct PendingTrial {
  MeasureRequest request;
  MeasureCallback done;
  int64_t strikes = 0;
  // Workers whose device was lost under the trial; they are asked last.
  std::set<std::string> avoid;
  bool is_cancelled = false;  // nobody wants the report any more
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_PENDING_TRIAL_H_
