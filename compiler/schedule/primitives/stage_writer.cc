#include "compiler/schedule/primitives/stage_writer.h"

#include <utility>

#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

namespace {

std::vector<Expr> AxesOf(const Buffer& buffer) {
  std::vector<Expr> axes;
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    axes.push_back(loop::Var(Stage(buffer->name).Axis(d).name()));
  }
  return axes;
}

}  // namespace

Buffer StageWriter::Make(const std::string& step, std::vector<int64_t> shape) {
  Buffer buffer = loop::MakeBuffer(result_->name + "." + step, result_->dtype, std::move(shape),
                                   loop::Role::kWorkspace);
  InsertBuffer(nest_, buffer);
  return buffer;
}

void StageWriter::Add(const Buffer& buffer, const std::vector<Expr>& axes, Stmt body) {
  for (size_t d = axes.size(); d-- > 0;) {
    body = loop::For(axes[d], 0, buffer->shape[d], std::move(body));
  }
  launches_.push_back({buffer->name, loop::Phase::kRun, std::move(body)});
}

Buffer StageWriter::Compute(const std::string& step, std::vector<int64_t> shape,
                            const Value& value) {
  Buffer buffer = Make(step, std::move(shape));
  Fill(buffer, value);
  return buffer;
}

void StageWriter::Fill(const Buffer& buffer, const Value& value) {
  const std::vector<Expr> axes = AxesOf(buffer);
  Add(buffer, axes, loop::Store(buffer, axes, value(axes)));
}

Buffer StageWriter::Sum(const std::string& step, std::vector<int64_t> shape,
                        const std::vector<int64_t>& extents, const Term& term) {
  return Reduce(step, std::move(shape),
                {loop::Const(0, result_->dtype), loop::BinaryOp::kAdd, extents}, term);
}

Buffer StageWriter::Reduce(const std::string& step, std::vector<int64_t> shape,
                           const Reduction& reduction, const Term& term) {
  Buffer buffer = Make(step, std::move(shape));
  FillReduced(buffer, reduction, term);
  return buffer;
}

void StageWriter::FillReduced(const Buffer& buffer, const Reduction& reduction, const Term& term) {
  const std::vector<Expr> axes = AxesOf(buffer);
  std::vector<Expr> steps;
  for (size_t d = 0; d < reduction.extents.size(); ++d) {
    steps.push_back(loop::Var(Stage(buffer->name).Reduction(d).name()));
  }
  Stmt init = loop::Store(buffer, axes, reduction.first);
  Stmt update =
      loop::Store(buffer, axes, loop::Binary(reduction.op, Load(buffer, axes), term(axes, steps)));
  for (size_t d = steps.size(); d-- > 0;) {
    update = loop::For(steps[d], 0, reduction.extents[d], std::move(update));
  }
  Add(buffer, axes, loop::Seq({std::move(init), std::move(update)}));
}

void StageWriter::Replace(size_t launch) && {
  const auto place = nest_->launches.begin() + static_cast<ptrdiff_t>(launch);
  nest_->launches.insert(nest_->launches.erase(place), launches_.begin(), launches_.end());
}

}  // namespace hone::schedule
