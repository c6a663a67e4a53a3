// Plans: what a template, or one of its strategies, makes of a task.
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

// All the ways in which a task can be scheduled. What depends on the task alone is worked out when
// the plan is made. Immutable; thread-safe.
class Plan {
 public:
  virtual ~Plan() = default;

  // The next knob after the choices of `prefix`; nullopt: the config is complete. This is the
  // function that the Space of the task walks.
  virtual std::optional<Knob> NextKnob(const Config& prefix) const = 0;

  // Configs that an analytic model of the target chooses, without measuring the task; at least one.
  // The first is the default. A guided search tries the others after it, since the model may rank
  // them wrongly. What was measured of the target counts here, and nowhere else.
  virtual std::vector<PricedConfig> Ranked() const = 0;

  // The scheduled nest: the naive nest after all primitives of the config. The launches' outermost
  // loops are parallel. `config` must be a complete config that NextKnob leads to; each of these
  // succeeds.
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
