#include "compiler/schedule/primitives/clone_stage.h"

#include <memory>
#include <string>
#include <utility>

#include "compiler/loop/launch_access.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;

absl::StatusOr<Stage> CloneStage(loop::Nest* nest, const Stage& stage, const Stage& reader) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, stage.buffer()));
  HONE_ASSIGN_OR_RETURN(const Buffer filled, FindBuffer(*nest, reader.buffer()));
  HONE_ASSIGN_OR_RETURN(const size_t writer, WriterOf(*nest, buffer));
  HONE_ASSIGN_OR_RETURN(const size_t reading, WriterOf(*nest, filled));
  HONE_RETURN_IF_ERROR(MatchStage(*nest, writer, buffer).status());
  if (buffer->role != loop::Role::kWorkspace || reading <= writer ||
      !Loads(nest->launches[reading].body, buffer)) {
    return absl::FailedPreconditionError(
        fmt::format("expected a workspace that stage '{}' loads to compute it again, found '{}'",
                    reader.buffer(), stage.buffer()));
  }
  const loop::LaunchAccess own = loop::AccessOf(nest->launches[writer]);
  for (size_t i = writer + 1; i < reading; ++i) {
    for (const loop::BufferNode* written : loop::AccessOf(nest->launches[i]).written) {
      if (!own.read.contains(written)) continue;
      return absl::FailedPreconditionError(
          fmt::format("'{}' cannot be computed again for '{}': '{}', which it loads, has changed",
                      stage.buffer(), reader.buffer(), written->name));
    }
  }
  std::string name = stage.buffer() + ".again";
  for (int more = 2; FindBuffer(*nest, name).ok(); ++more) {
    name = fmt::format("{}.again{}", stage.buffer(), more);
  }
  auto node = std::make_shared<loop::BufferNode>(*buffer);
  node->name = name;
  const Buffer again = std::move(node);
  const Stage clone(name);
  loop::Launch launch{name, nest->launches[writer].phase, nullptr};
  launch.body = loop::RenameFresh(
      loop::Substitute(nest->launches[writer].body, {}, {{buffer.get(), again}}),
      [&](const std::string& old) { return UniqueLoopName(*nest, stage.NameIn(clone, old)); });
  loop::Launch& reads = nest->launches[reading];
  reads.body = loop::Substitute(reads.body, {}, {{buffer.get(), again}});
  nest->launches.insert(nest->launches.begin() + static_cast<ptrdiff_t>(reading),
                        std::move(launch));
  InsertBuffer(nest, again);
  return clone;
}

}  // namespace hone::schedule
