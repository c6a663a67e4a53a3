#include "compiler/schedule/primitives/cache_read.h"

#include <algorithm>
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

namespace {

// The launches that fill the readers, ascending, each of which loads the buffer.
absl::StatusOr<std::vector<size_t>> ReadingLaunches(const loop::Nest& nest, const Buffer& buffer,
                                                    const std::vector<Stage>& readers) {
  if (readers.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("a read cache of '{}' needs a reader", buffer->name));
  }
  std::vector<size_t> launches;
  for (const Stage& reader : readers) {
    HONE_ASSIGN_OR_RETURN(const Buffer filled, FindBuffer(nest, reader.buffer()));
    HONE_ASSIGN_OR_RETURN(const size_t launch, WriterOf(nest, filled));
    if (!Loads(nest.launches[launch].body, buffer)) {
      return absl::FailedPreconditionError(
          fmt::format("the stage '{}' must load '{}', and not write it, to get a copy of it",
                      reader.buffer(), buffer->name));
    }
    launches.push_back(launch);
  }
  std::ranges::sort(launches);
  for (size_t i = launches.front(); i <= launches.back(); ++i) {
    if (!Stores(nest.launches[i].body, buffer)) continue;
    return absl::FailedPreconditionError(
        fmt::format("the stage '{}' must load '{}', and not write it, to get a copy of it",
                    readers.front().buffer(), buffer->name));
  }
  return launches;
}

}  // namespace

absl::StatusOr<Stage> CacheRead(loop::Nest* nest, const std::string& name,
                                const std::vector<Stage>& readers) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  HONE_ASSIGN_OR_RETURN(const std::vector<size_t> launches,
                        ReadingLaunches(*nest, buffer, readers));
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
  for (const size_t launch : launches) {
    loop::Launch& reading = nest->launches[launch];
    reading.body = loop::Substitute(reading.body, {}, {{buffer.get(), copy}});
  }
  const loop::Phase phase = nest->launches[launches.front()].phase;
  nest->launches.insert(nest->launches.begin() + static_cast<ptrdiff_t>(launches.front()),
                        {fresh, phase, std::move(body)});
  InsertBuffer(nest, copy);
  return Stage(fresh);
}

absl::StatusOr<Stage> CacheRead(loop::Nest* nest, const std::string& name, const Stage& reader) {
  return CacheRead(nest, name, std::vector<Stage>{reader});
}

}  // namespace hone::schedule
