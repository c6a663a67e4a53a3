#include "compiler/schedule/rows/view.h"

#include <algorithm>

namespace hone::schedule {

bool FindsPositions(const ops::KernelDefinition& def) {
  return std::ranges::any_of(
      def.ops, [](const ops::OpStage& op) { return op.op == "argmax" || op.op == "argmin"; });
}

bool IsSoftmax(const ops::KernelDefinition& def) {
  bool softmax = false;
  for (const ops::OpStage& op : def.ops) {
    if (op.op == "nn.softmax" || op.op == "nn.log_softmax") {
      softmax = true;
    } else if (op.kind > ops::FuseKind::kInjective) {
      return false;
    }
  }
  return softmax;
}

bool DropsNan(const Task& task) {
  return !task.machine.vector.max_hands_nan_on && IsSoftmax(*task.def);
}

}  // namespace hone::schedule
