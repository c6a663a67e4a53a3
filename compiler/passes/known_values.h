// Evaluates expressions that are made of constants alone.
#ifndef HONE_COMPILER_PASSES_KNOWN_VALUES_H_
#define HONE_COMPILER_PASSES_KNOWN_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/node_map.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {

// Whether the node is a call of an operator on constants (or tuples of them).
bool IsCallOfConstants(const ir::ExprNode& node);
// Whether the result of a call is large and much larger than its operands. A constant that is
// broadcast to a large tensor is better left to be made where it is needed.
bool Grows(const ir::ExprNode& call);

// The most elements that a result may have if it is to be computed beforehand: twice the elements
// of all constants below `e`, but at least a small number.
int64_t MostElements(const ir::Expr& e);

// Evaluates each node once, however many read it. Nodes are compared by identity.
class KnownValues {
 public:
  // With a null evaluator nothing is evaluated.
  explicit KnownValues(const Evaluator& evaluator) : evaluator_(evaluator) {}

  // The call's result, or the call itself where it cannot be evaluated.
  ir::Expr OfCall(const ir::Expr& call);
  // `e` with all calls on constants replaced by their results, except results of more than `most`
  // elements. The results of nodes that are not `used_once` are kept for the next call, together
  // with the nodes; the others are freed as soon as possible.
  ir::Expr OfAll(const ir::Expr& e, int64_t most, const UsedOnce& used_once);
  // The first error of the evaluator. After an error nothing is evaluated any more.
  const absl::Status& error() const { return error_; }

 private:
  const Evaluator& evaluator_;
  ir::NodeMap<ir::Expr> known_;
  std::vector<ir::Expr> kept_;  // the nodes that are known
  absl::Status error_;
};

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_KNOWN_VALUES_H_
