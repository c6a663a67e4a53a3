// Stages that take the place of another: what primitives that change an algorithm write.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_STAGE_WRITER_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_STAGE_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::schedule {

// Collects stages, each of loops "<buffer>.i0", ... over a buffer's dimensions, in the order they
// are asked for. New buffers are workspaces named "<result>.<step>", of the result's type, and in
// the nest at once; the launches when Replace is called.
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
  // buffer[axes] = first, then buffer[axes] = buffer[axes] op term(axes, steps) for such steps
  struct Reduction {
    loop::Expr first;
    loop::BinaryOp op = loop::BinaryOp::kAdd;
    std::vector<int64_t> extents;
  };
  loop::Buffer Reduce(const std::string& step, std::vector<int64_t> shape,
                      const Reduction& reduction, const Term& term);
  void FillReduced(const loop::Buffer& buffer, const Reduction& reduction, const Term& term);
  // Puts the stages in the place of a launch.
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
