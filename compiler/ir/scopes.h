// Finds the block of the graph text that each node of a DAG belongs to.
#ifndef HONE_COMPILER_IR_SCOPES_H_
#define HONE_COMPILER_IR_SCOPES_H_

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::ir {

// A scope is the body of a function literal, a branch of an if or what follows a let; scope 0 holds
// the root. A node belongs to the innermost scope that encloses all its uses.
class Scopes {
 public:
  explicit Scopes(const Expr& root);

  int Of(const Expr& node) const { return scope_.at(node.get()); }
  // The scope that operand `slot` of `node` opens.
  int Opened(const Expr& node, size_t slot) const { return opened_.at({node.get(), slot}); }
  // The number of edges from nodes that use this one; being the root does not count.
  int Uses(const Expr& node) const { return uses_.at(node.get()); }
  // The nodes that belong to the scope, in evaluation order.
  const std::vector<Expr>& Nodes(int scope) const { return nodes_[scope]; }
  // How deeply blocks are nested in the text. A let that is the body of another let continues the
  // block of that let.
  int Nesting() const { return nesting_; }

 private:
  int Open(int parent, int nesting);
  int CommonAncestor(int a, int b) const;

  std::vector<int> parent_;
  std::vector<int> depth_;
  std::vector<int> jump_;  // an ancestor farther away, for CommonAncestor
  std::vector<int> nesting_of_;
  int nesting_ = 0;
  std::vector<std::vector<Expr>> nodes_;
  std::unordered_map<const ExprNode*, int> scope_;
  std::unordered_map<const ExprNode*, int> uses_;
  std::map<std::pair<const ExprNode*, size_t>, int> opened_;
};

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_SCOPES_H_
