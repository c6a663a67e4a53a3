// Builds naive nests: the compute definitions of operators are written with this. Each Compute or
// Reduce is a stage: one launch that fills one new row-major buffer, obviously right.
#ifndef HONE_COMPILER_LOOP_BUILDER_H_
#define HONE_COMPILER_LOOP_BUILDER_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::loop {

// Not thread-safe. Buffer, launch and loop names are made unique by a suffix ("relu", "relu.1"). A
// stage of buffer "conv" has the loops "conv.i0", "conv.i1", ... (one a dimension of the buffer,
// outermost first) and "conv.r0", ... (reduction axes).
class NestBuilder {
 public:
  explicit NestBuilder(std::string name);

  Buffer AddInput(std::string name, DataType dtype, std::vector<int64_t> shape);
  Buffer AddConstant(std::string name, DataType dtype, std::vector<int64_t> shape);

  // States which values an input or constant, as it was added, holds in a model (the fields of
  // BufferNode with these names), so that seeded data are drawn from them. Ignored for others.
  void SetDomain(const Buffer& buffer, double low, double high, bool ascending = false);

  // buffer[axes] = value(axes) over the whole shape:
  //   for c.i0, c.i1: c[c.i0, c.i1] = value
  Buffer Compute(std::string name, DataType dtype, std::vector<int64_t> shape,
                 const std::function<Expr(const std::vector<Expr>& axes)>& value);

  enum class Combiner { kAdd, kMul, kMin, kMax };
  // buffer[axes] = init, then combined in the order of the reduction axes with value(axes,
  // reduce_axes):
  //   for c.i0, c.i1 { c[..] = init; for c.r0, c.r1 { c[..] = c[..] + value } }
  // `extents` may be expressions of the axes where bounds depend on data (CSR rows).
  Buffer Reduce(std::string name, DataType dtype, std::vector<int64_t> shape,
                const std::function<std::vector<Expr>(const std::vector<Expr>& axes)>& extents,
                Combiner combiner, Expr init,
                const std::function<Expr(const std::vector<Expr>& axes,
                                         const std::vector<Expr>& reduce)>& value);
  Buffer Reduce(std::string name, DataType dtype, std::vector<int64_t> shape,
                std::vector<int64_t> extents, Combiner combiner, Expr init,
                const std::function<Expr(const std::vector<Expr>& axes,
                                         const std::vector<Expr>& reduce)>& value);

  // A stage written by hand: `body` stores to `buffer`, which is registered as workspace.
  void AddStage(Buffer buffer, Stmt body);

  // Ends building: `outputs` become the outputs, in order; every other stage buffer is workspace.
  // An output that is an input or appears twice gets a copy stage.
  Nest Finish(std::vector<Buffer> outputs);

 private:
  std::string Unique(const std::string& name);

  Nest nest_;
  std::vector<std::string> names_;
};

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_BUILDER_H_
