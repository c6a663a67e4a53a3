// Writes the statements of a launch as OpenCL C.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_STATEMENT_H_
#define HONE_COMPILER_CODEGEN_OPENCL_STATEMENT_H_

#include <string>
#include <utility>

#include "compiler/codegen/opencl/c_text.h"
#include "compiler/codegen/opencl/expression.h"
#include "compiler/codegen/opencl/lines.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"

namespace hone::codegen::opencl {

// Writes what one work item does. Every loop is written as a serial loop on scalars, whatever its
// kind. Not thread-safe.
class StatementWriter {
 public:
  // `scope` and `lines` must outlive the writer. `bounds` are those of the variables that the
  // launch's grid binds.
  StatementWriter(KernelScope& scope, Lines& lines, loop::Bounds bounds)
      : scope_(scope), lines_(lines), bounds_(std::move(bounds)) {}

  void Write(const loop::Stmt& s);

 private:
  // The bounds of a loop, as code.
  struct Limits {
    CText first;
    CText end;
  };

  void WriteFor(const loop::Stmt& s);
  Limits WriteLimits(const loop::Stmt& s);
  void WriteLoop(const loop::Stmt& s, const Limits& limits);
  void WriteIf(const loop::Stmt& s);
  void WriteBranch(const loop::Stmt& branch, const loop::Expr& condition, bool truth);
  void WriteWhile(const loop::Stmt& s);
  void WriteAlloc(const loop::Stmt& s);
  void WriteStore(const loop::Stmt& s);
  // Declares a variable with this value and returns it.
  CText Declared(const std::string& word, const CText& value);

  KernelScope& scope_;
  Lines& lines_;
  loop::Bounds bounds_;
};

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_STATEMENT_H_
