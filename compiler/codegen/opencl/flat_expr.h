// Prepares the expressions of a statement to be written: simplifies them and replaces logical
// indices by offsets in memory.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_FLAT_EXPR_H_
#define HONE_COMPILER_CODEGEN_OPENCL_FLAT_EXPR_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/expr.h"

namespace hone::codegen::opencl {

// Use one for each statement. The results are ordinary expressions, except that each load has one
// operand: the element's offset from the buffer's start, in elements. Not thread-safe.
class Flattener {
 public:
  // `bounds` are the bounds of variables at the statement. They must outlive the flattener.
  explicit Flattener(const loop::Bounds& bounds) : bounds_(bounds) {}

  loop::Expr Value(const loop::Expr& e);
  loop::Expr Offset(const loop::BufferNode& buffer, const std::vector<loop::Expr>& indices);

 private:
  loop::Expr Kept(loop::Expr e);
  loop::Expr Flat(const loop::Expr& e);
  loop::Expr FlatInner(const loop::Expr& e);

  const loop::Bounds& bounds_;
  absl::flat_hash_map<const loop::ExprNode*, loop::Expr> done_;
  std::vector<loop::Expr> kept_;  // keeps nodes alive that are keys of done_
};

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_FLAT_EXPR_H_
