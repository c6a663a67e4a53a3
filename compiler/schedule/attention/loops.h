// The names of the loops that schedules of attention make.
#ifndef HONE_COMPILER_SCHEDULE_ATTENTION_LOOPS_H_
#define HONE_COMPILER_SCHEDULE_ATTENTION_LOOPS_H_

#include <utility>

#include "compiler/schedule/product/loops.h"

namespace hone::schedule {

// The loops of either product. Its rows may be in blocks: Blocks is the loop over these, and
// BlockRows that over the rows of a block.
class AttentionLoops : public ProductLoops {
 public:
  AttentionLoops() = default;
  explicit AttentionLoops(Stage stage) : ProductLoops(std::move(stage)) {}

  Loop Blocks() const { return Named("block"); }
  Loop BlockRows() const { return Named("row"); }
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ATTENTION_LOOPS_H_
