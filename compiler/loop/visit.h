// Walking and rewriting loop nests.
#ifndef HONE_COMPILER_LOOP_VISIT_H_
#define HONE_COMPILER_LOOP_VISIT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

using VarMap = absl::flat_hash_map<const ExprNode*, Expr>;
using BufferMap = absl::flat_hash_map<const BufferNode*, Buffer>;

// Rebuilds what changes and keeps what does not: an untouched subtree comes back as the same node.
// Override the Rewrite of the nodes of interest and call RewriteChildren for the rest.
class Mutator {
 public:
  virtual ~Mutator() = default;
  virtual Expr Rewrite(const Expr& e) { return RewriteChildren(e); }
  virtual Stmt Rewrite(const Stmt& s) { return RewriteChildren(s); }

 protected:
  // What takes the place of a buffer in loads, stores, allocations and prefetches.
  virtual Buffer RewriteBuffer(const Buffer& buffer) { return buffer; }
  // What takes the place of the variable a loop binds.
  virtual Expr RewriteLoopVar(const Expr& var) { return var; }

  Expr RewriteChildren(const Expr& e);
  Stmt RewriteChildren(const Stmt& s);
};

// Every node below and including the root, parents first. `enter` returning false skips what is
// below a statement. Expressions of a statement are visited before its body.
void Walk(const Expr& root, const std::function<void(const Expr&)>& visit);
void Walk(const Stmt& root, const std::function<bool(const Stmt&)>& enter);
void Walk(const Stmt& root, const std::function<bool(const Stmt&)>& enter,
          const std::function<void(const Expr&)>& visit);
// The expressions a statement itself holds (not those of its body).
void ForEachExpr(const StmtNode& stmt, const std::function<void(const Expr&)>& visit);

// Replaces variables and buffers. A loop whose variable maps to another variable binds that one.
Expr Substitute(const Expr& e, const VarMap& vars);
Expr Substitute(const Expr& e, const VarMap& vars, const BufferMap& buffers);
Stmt Substitute(const Stmt& s, const VarMap& vars, const BufferMap& buffers = {});
// Replaces global buffers everywhere, in the table too.
Nest Substitute(const Nest& nest, const BufferMap& buffers);

// A copy with new loop variables and new allocated buffers, named by `rename` of their old names:
// for using one body twice.
Stmt RenameFresh(const Stmt& s, const std::function<std::string(const std::string&)>& rename);

bool UsesVar(const Expr& e, const Expr& var);
bool UsesVar(const Stmt& s, const Expr& var);
bool HasLoad(const Expr& e);
// The loops of a statement, outer before inner.
std::vector<Stmt> CollectLoops(const Stmt& s);
// What stands inside the loops that a statement begins with; the statement where it is no loop.
Stmt InsideLoops(const Stmt& s);

// Equal in structure. Loop variables and buffers correspond by where they are bound or stand in the
// table; names, shapes, layouts and roles are equal too.
bool StructuralEqual(const Nest& a, const Nest& b);
bool StructuralEqual(const Stmt& a, const Stmt& b);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_VISIT_H_
