// The names of the loops that schedules make of the data of products with narrow weights.
#ifndef HONE_COMPILER_SCHEDULE_DENSE_LOOPS_H_
#define HONE_COMPILER_SCHEDULE_DENSE_LOOPS_H_

#include <utility>

#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The loops of a stage that computes from the data before the product.
class ScaledDataLoops : public Stage {
 public:
  ScaledDataLoops() = default;
  explicit ScaledDataLoops(Stage stage) : Stage(std::move(stage)) {}

  // The loops over parts of a row, over the terms of a part, and over these terms as vectors and
  // lanes.
  Loop Parts() const { return Named("part"); }
  Loop Terms() const { return Named("k"); }
  Loop TermVectors() const { return Named("kv"); }
  Loop TermLanes() const { return Named("kl"); }
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_DENSE_LOOPS_H_
