#include "compiler/loop/accumulation.h"

namespace hone::loop {

bool Accumulates(const StmtNode& store) {
  if (store.value->kind != ExprKind::kBinary) return false;
  const Expr& accumulator = store.value->operands[0];
  if (accumulator->kind != ExprKind::kLoad || accumulator->buffer != store.buffer) return false;
  for (size_t d = 0; d < store.indices.size(); ++d) {
    if (!StructuralEqual(store.indices[d], accumulator->operands[d])) return false;
  }
  return true;
}

}  // namespace hone::loop
