// The loops that schedules of narrow weights' data make, by name.
#ifndef HONE_COMPILER_SCHEDULE_DENSE_LOOPS_H_
#define HONE_COMPILER_SCHEDULE_DENSE_LOOPS_H_

#include <utility>

#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The loops of a stage that is made of the data before the product.
class ScaledDataLoops : public Stage {
 public:
  ScaledDataLoops() = default;
  explicit ScaledDataLoops(Stage stage) : Stage(std::move(stage)) {}

  // Parts of a row, the terms of one, and these as vectors and their lanes.
  Loop Parts() const { return Named("part"); }
  Loop Terms() const { return Named("k"); }
  Loop TermVectors() const { return Named("kv"); }
  Loop TermLanes() const { return Named("kl"); }
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_DENSE_LOOPS_H_
