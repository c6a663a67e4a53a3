#include "compiler/schedule/primitives/cache_read.h"

#include <utility>
#include <vector>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

absl::StatusOr<Stage> CacheRead(loop::Nest* nest, const std::string& name, const Stage& reader) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  HONE_ASSIGN_OR_RETURN(const Buffer filled, FindBuffer(*nest, reader.buffer()));
  HONE_ASSIGN_OR_RETURN(const size_t launch, WriterOf(*nest, filled));
  loop::Launch& reading = nest->launches[launch];
  if (!Loads(reading.body, buffer) || Stores(reading.body, buffer)) {
    return absl::FailedPreconditionError(
        fmt::format("the stage '{}' must load '{}', and not write it, to get a copy of it",
                    reader.buffer(), name));
  }
  if (buffer->layout.HasPadLanes(buffer->shape)) {
    return absl::FailedPreconditionError(
        fmt::format("only what has no pad lanes gets a read cache, '{}' has some", name));
  }
  std::string fresh = name + ".cached";
  for (int again = 2; FindBuffer(*nest, fresh).ok(); ++again) {
    fresh = fmt::format("{}.cached{}", name, again);
  }
  const Buffer copy = loop::MakeBuffer(fresh, buffer->dtype, buffer->shape, loop::Role::kWorkspace);
  std::vector<Expr> vars;
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    vars.push_back(loop::Var(Stage(fresh).Axis(d).name()));
  }
  Stmt body = loop::Store(copy, vars, loop::Load(buffer, vars));
  for (size_t d = vars.size(); d-- > 0;) {
    body = loop::For(vars[d], 0, buffer->shape[d], std::move(body));
  }
  reading.body = loop::Substitute(reading.body, {}, {{buffer.get(), copy}});
  const loop::Phase phase = reading.phase;
  nest->launches.insert(nest->launches.begin() + static_cast<ptrdiff_t>(launch),
                        {fresh, phase, std::move(body)});
  InsertBuffer(nest, copy);
  return Stage(fresh);
}

}  // namespace hone::schedule
