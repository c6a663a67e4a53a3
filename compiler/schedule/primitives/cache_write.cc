#include "compiler/schedule/primitives/cache_write.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

absl::StatusOr<Stage> CacheWrite(loop::Nest* nest, const Stage& stage, const std::string& layout) {
  const std::string& name = stage.buffer();
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  const bool written =
      buffer->role == loop::Role::kWorkspace || buffer->role == loop::Role::kOutput;
  // A copy would leave pad lanes as they are.
  if (!written || buffer->layout.HasPadLanes(buffer->shape)) {
    return absl::FailedPreconditionError(fmt::format(
        "only workspace and outputs without pad lanes get a write cache, '{}' is not so", name));
  }
  HONE_ASSIGN_OR_RETURN(const size_t writer, WriterOf(*nest, buffer));
  loop::BufferNode node = *loop::MakeBuffer(stage.Sums().buffer(), buffer->dtype, buffer->shape,
                                            loop::Role::kWorkspace);
  if (!layout.empty()) {
    const auto parsed = Layout::Parse(layout, node.layout.rank());
    if (!parsed) {
      return absl::InvalidArgumentError(fmt::format("layout '{}' does not fit '{}' of rank {}",
                                                    layout, name, node.layout.rank()));
    }
    node.layout = *parsed;
  }
  const Buffer cache = std::make_shared<const loop::BufferNode>(std::move(node));
  loop::Launch& launch = nest->launches[writer];
  launch.body = loop::Substitute(launch.body, {}, {{buffer.get(), cache}});
  launch.body = loop::RenameFresh(launch.body, [&](const std::string& old) {
    return UniqueLoopName(*nest, stage.NameIn(stage.Sums(), old));
  });
  std::vector<Expr> vars;
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    vars.push_back(loop::Var(stage.Axis(d).name()));
  }
  Stmt body = loop::Store(buffer, vars, loop::Load(cache, vars));
  for (size_t d = vars.size(); d-- > 0;) {
    body = loop::For(vars[d], 0, buffer->shape[d], std::move(body));
  }
  const loop::Phase phase = launch.phase;
  nest->launches.insert(nest->launches.begin() + static_cast<ptrdiff_t>(writer) + 1,
                        {name + ".write", phase, std::move(body)});
  InsertBuffer(nest, cache);
  return Stage(cache->name);
}

}  // namespace hone::schedule
