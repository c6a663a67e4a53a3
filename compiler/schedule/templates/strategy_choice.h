#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_STRATEGY_CHOICE_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_STRATEGY_CHOICE_H_

#include "compiler/schedule/config.h"

namespace hone::schedule {

// The best config of a strategy by the analytic model, and its cycles, to compare strategies.
struct StrategyChoice {
  Config config;
  double cycles = 0;  // from the first core's start to the last one's end
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_STRATEGY_CHOICE_H_
