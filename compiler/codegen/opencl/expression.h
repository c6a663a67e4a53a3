// Writes the expressions of a launch as OpenCL C.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_EXPRESSION_H_
#define HONE_COMPILER_CODEGEN_OPENCL_EXPRESSION_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "compiler/codegen/opencl/c_text.h"
#include "compiler/codegen/opencl/helpers.h"
#include "compiler/codegen/opencl/int_arithmetic.h"
#include "compiler/codegen/opencl/lines.h"
#include "compiler/codegen/opencl/names.h"
#include "compiler/codegen/opencl/storage.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/expr.h"

namespace hone::codegen::opencl {

// What is known about a launch while its code is written.
struct KernelScope {
  Names names;
  Helpers helpers;
  absl::flat_hash_map<const loop::ExprNode*, CText> variables;
  StorageMap storage;
  absl::Status status;

  // Keeps the first failure.
  void Fail(std::string message);
  // Null, with a failure recorded, if nothing binds the buffer.
  const Storage* Find(const loop::BufferNode& buffer);
};

// Writes the expressions of one statement, as a Flattener returned them. A subexpression that is
// used more than once, or gets long, becomes a variable on lines before the statement. One that
// must be evaluated only if a condition holds is written inside a branch on that condition. Not
// thread-safe.
class ExpressionWriter {
 public:
  // All references must outlive the writer. `roots` are all expressions of the statement.
  ExpressionWriter(KernelScope& scope, const loop::Bounds& bounds, Lines& lines,
                   const std::vector<loop::Expr>& roots);

  CText Write(const loop::Expr& e);

 private:
  using Values = absl::flat_hash_map<const loop::ExprNode*, CText>;
  // The lines and values of one side of a condition.
  struct Side {
    Lines lines;
    CText value;
  };

  void CountUses(const loop::Expr& e);
  const CText* Known(const loop::Expr& e) const;
  CText WriteNode(const loop::Expr& e);
  CText WriteConstant(const loop::Expr& e) const;
  CText WriteVariable(const loop::Expr& e);
  CText WriteLoad(const loop::Expr& e);
  CText WriteUnary(const loop::Expr& e);
  CText WriteBinary(const loop::Expr& e);
  CText WriteCast(const loop::Expr& e);
  CText WriteSelect(const loop::Expr& e);
  // condition ? then : otherwise, where only the chosen side is evaluated.
  CText Choose(const loop::Expr& condition, const loop::Expr& then, const loop::Expr& otherwise,
               DataType dtype);
  Side WriteSide(const loop::Expr& e);
  CText ChooseByBranch(const CText& condition, Side then, Side otherwise, DataType dtype);

  IntOperand Operand(const loop::Expr& e);
  CText Named(const CText& value);
  bool DeservesName(const loop::Expr& e, const CText& text) const;
  loop::Interval RangeOf(const loop::Expr& e);
  // Whether evaluating `e` may fault when the condition that guards it does not hold.
  bool MayFault(const loop::Expr& e);
  bool GuardsSides(const loop::Expr& e);
  // Collects the expressions that are evaluated whenever `e` is.
  void CollectSure(const loop::Expr& e, std::vector<loop::Expr>* order,
                   absl::flat_hash_set<const loop::ExprNode*>* seen);

  KernelScope& scope_;
  const loop::Bounds& bounds_;
  Lines* lines_;
  absl::flat_hash_set<const loop::ExprNode*> roots_;
  absl::flat_hash_map<const loop::ExprNode*, int> uses_;
  // Products that the compiler may contract with the sum that uses them.
  absl::flat_hash_set<const loop::ExprNode*> products_;
  absl::flat_hash_map<const loop::ExprNode*, bool> faults_;
  absl::flat_hash_map<const loop::ExprNode*, loop::Interval> ranges_;
  std::vector<Values> values_;  // innermost side last
};

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_EXPRESSION_H_
