// Expressions of a statement, ready to be written down: simplified, with places in memory for
// logical indices.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_FLAT_EXPR_H_
#define HONE_COMPILER_CODEGEN_OPENCL_FLAT_EXPR_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/expr.h"

namespace hone::codegen::opencl {

// Used for one statement. What it returns are ordinary expressions, but that each load has one
// operand: where the element lies, in elements from the buffer's start. Not thread-safe.
class Flattener {
 public:
  // `bounds`, those at the statement, outlive it.
  explicit Flattener(const loop::Bounds& bounds) : bounds_(bounds) {}

  loop::Expr Value(const loop::Expr& e);
  loop::Expr Offset(const loop::BufferNode& buffer, const std::vector<loop::Expr>& indices);

 private:
  loop::Expr Kept(loop::Expr e);
  loop::Expr Flat(const loop::Expr& e);
  loop::Expr FlatInner(const loop::Expr& e);

  const loop::Bounds& bounds_;
  absl::flat_hash_map<const loop::ExprNode*, loop::Expr> done_;
  std::vector<loop::Expr> kept_;  // whose nodes are among the keys
};

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_FLAT_EXPR_H_
