// Expressions made of constants alone, and their values.
#ifndef HONE_COMPILER_PASSES_KNOWN_VALUES_H_
#define HONE_COMPILER_PASSES_KNOWN_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/node_map.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {

// Whether it is a call of an operator on constants (or tuples of them).
bool IsCallOfConstants(const ir::ExprNode& node);
// Whether a call's result is large, and much larger than its operands: a tensor that a constant is
// repeated to is better made where it is needed.
bool Grows(const ir::ExprNode& call);

// How many elements what is made of constants may have to be computed beforehand: twice those of
// all constants below `e`, or few.
int64_t MostElements(const ir::Expr& e);

// Computes what several read once. Nodes are told by identity.
class KnownValues {
 public:
  // Null: nothing is evaluated.
  explicit KnownValues(const Evaluator& evaluator) : evaluator_(evaluator) {}

  // The call's result, or the call itself where it cannot be evaluated.
  ir::Expr OfCall(const ir::Expr& call);
  // `e` with the results of all calls of constants in it, but of those whose results would have
  // more than `most` elements. Results of nodes that are not `used_once` are kept for
  // the next call, and the nodes with them; the others go as soon as they can.
  ir::Expr OfAll(const ir::Expr& e, int64_t most, const UsedOnce& used_once);
  // The first error of the evaluator; after it nothing is evaluated.
  const absl::Status& error() const { return error_; }

 private:
  const Evaluator& evaluator_;
  ir::NodeMap<ir::Expr> known_;
  std::vector<ir::Expr> kept_;  // the nodes that are known
  absl::Status error_;
};

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_KNOWN_VALUES_H_
