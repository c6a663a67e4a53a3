// Writes the stages by which primitives that change an algorithm replace a stage.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_STAGE_WRITER_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_STAGE_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::schedule {

// Collects stages in the order in which they are asked for. Each has loops "<buffer>.i0", ... over
// the dimensions of its buffer. New buffers are workspaces of the result's type, named
// "<result>.<step>". They are in the nest at once; the launches are there when Replace is called.
// The nest must outlive the writer.
class StageWriter {
 public:
  using Value = std::function<loop::Expr(const std::vector<loop::Expr>& axes)>;
  using Term = std::function<loop::Expr(const std::vector<loop::Expr>& axes,
                                        const std::vector<loop::Expr>& steps)>;

  StageWriter(loop::Nest* nest, loop::Buffer result) : nest_(nest), result_(std::move(result)) {}

  // buffer[axes] = value(axes)
  loop::Buffer Compute(const std::string& step, std::vector<int64_t> shape, const Value& value);
  void Fill(const loop::Buffer& buffer, const Value& value);
  // buffer[axes] = the sum of term(axes, steps) over steps "<buffer>.r0", ... of these extents
  loop::Buffer Sum(const std::string& step, std::vector<int64_t> shape,
                   const std::vector<int64_t>& extents, const Term& term);
  // buffer[axes] = first, then buffer[axes] = buffer[axes] op term(axes, steps) for all steps
  // "<buffer>.r0", ... of `extents`
  struct Reduction {
    loop::Expr first;
    loop::BinaryOp op = loop::BinaryOp::kAdd;
    std::vector<int64_t> extents;
  };
  loop::Buffer Reduce(const std::string& step, std::vector<int64_t> shape,
                      const Reduction& reduction, const Term& term);
  void FillReduced(const loop::Buffer& buffer, const Reduction& reduction, const Term& term);
  // Puts the stages in the place of a launch of the nest.
  void Replace(size_t launch) &&;

 private:
  loop::Buffer Make(const std::string& step, std::vector<int64_t> shape);
  void Add(const loop::Buffer& buffer, const std::vector<loop::Expr>& axes, loop::Stmt body);

  loop::Nest* nest_;
  loop::Buffer result_;
  std::vector<loop::Launch> launches_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_STAGE_WRITER_H_
