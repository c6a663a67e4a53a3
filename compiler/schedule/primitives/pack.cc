#include "compiler/schedule/primitives/pack.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

namespace {

Stmt CopyStage(const Buffer& from, const Buffer& to) {
  std::vector<Expr> vars;
  Expr inside;
  for (size_t d = 0; d < from->shape.size(); ++d) {
    vars.push_back(loop::Var(to->name + ".i" + std::to_string(d)));
    if (to->layout.PaddedExtent(static_cast<int>(d), from->shape[d]) == from->shape[d]) continue;
    const Expr below = loop::Lt(vars[d], from->shape[d]);
    inside = inside ? loop::And(inside, below) : below;
  }
  Expr value = loop::Load(from, vars);
  if (inside) value = loop::Select(inside, value, loop::Const(0, from->dtype));
  Stmt body = loop::Store(to, vars, value);
  for (size_t d = vars.size(); d-- > 0;) {
    body = loop::For(vars[d], 0, to->layout.PaddedExtent(static_cast<int>(d), from->shape[d]),
                     std::move(body));
  }
  return body;
}

}  // namespace

absl::StatusOr<std::string> Pack(loop::Nest* nest, const std::string& name, const Layout& layout) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  if (buffer->role == loop::Role::kOutput) {
    return absl::FailedPreconditionError(fmt::format("'{}' is an output, not read", name));
  }
  if (layout.rank() != static_cast<int>(buffer->shape.size())) {
    return absl::InvalidArgumentError(fmt::format("layout '{}' does not fit '{}' of rank {}",
                                                  layout.ToString(), name, buffer->shape.size()));
  }
  const bool constant = buffer->role == loop::Role::kConstant;
  auto copy = std::make_shared<loop::BufferNode>(*buffer);
  copy->name = name + ".packed";
  for (int i = 1; FindBuffer(*nest, copy->name).ok(); ++i) {
    copy->name = fmt::format("{}.packed{}", name, i);
  }
  copy->layout = layout;
  copy->role = constant ? loop::Role::kPrepared : loop::Role::kWorkspace;
  const Buffer packed = std::move(copy);
  // Before the first reader; of a constant, in the prepare phase.
  size_t place = nest->launches.size();
  for (size_t i = 0; i < nest->launches.size(); ++i) {
    loop::Launch& launch = nest->launches[i];
    if (constant && launch.phase == loop::Phase::kRun) place = std::min(place, i);
    if (!Loads(launch.body, buffer)) continue;
    place = std::min(place, i);
    launch.body = loop::Substitute(launch.body, {}, {{buffer.get(), packed}});
  }
  nest->launches.insert(nest->launches.begin() + static_cast<ptrdiff_t>(place),
                        {packed->name, constant ? loop::Phase::kPrepare : loop::Phase::kRun,
                         CopyStage(buffer, packed)});
  InsertBuffer(nest, packed);
  return packed->name;
}

}  // namespace hone::schedule
