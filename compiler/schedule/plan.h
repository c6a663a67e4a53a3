// Plans: what a template makes of one task, or a strategy of it.
#ifndef HONE_COMPILER_SCHEDULE_PLAN_H_
#define HONE_COMPILER_SCHEDULE_PLAN_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/config.h"
#include "compiler/schedule/space.h"

namespace hone::schedule {

// A config and its cycles by an analytic model, from the first core's start to the last one's end.
// They are there to compare strategies.
struct PricedConfig {
  Config config;
  double cycles = 0;
};

// What depends on the task alone is worked out when the plan is made. Immutable; thread-safe.
class Plan {
 public:
  virtual ~Plan() = default;

  // The choice after those of `prefix`; nullopt: the config is whole. As Space asks it.
  virtual std::optional<Knob> NextKnob(const Config& prefix) const = 0;

  // Configs from an analytic model of the target, with no measurement, at least one: the default,
  // then what a guided search tries after it, since the model may rank them wrongly. What was
  // measured of the target counts here, and nowhere else.
  virtual std::vector<PricedConfig> Ranked() const = 0;

  // The scheduled nest: naive nest + primitives. The launches' outermost loops are parallel.
  // `config` is a whole one that NextKnob leads to; these always succeed.
  virtual absl::StatusOr<loop::Nest> Schedule(const Config& config) const = 0;

  // How much larger the error of the config's sums is than that of direct ones, because it
  // transforms the data: rounding of one result's products then reaches results beside it, too.
  // nullopt: it transforms nothing, and sums in another order at most.
  virtual std::optional<double> Amplification(const Config& /*config*/) const {
    return std::nullopt;
  }
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PLAN_H_
