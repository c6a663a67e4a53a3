#include "compiler/lower/barriers.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "compiler/loop/visit.h"

namespace hone::lower {
namespace {

using BufferSet = absl::flat_hash_set<const loop::BufferNode*>;

struct Footprint {
  BufferSet reads;
  BufferSet writes;
};

Footprint FootprintOf(const loop::Stmt& body) {
  Footprint footprint;
  const auto add = [](BufferSet& buffers, const loop::Buffer& buffer) {
    if (buffer->scope == loop::Scope::kGlobal) buffers.insert(buffer.get());
  };
  loop::Walk(
      body,
      [&](const loop::Stmt& s) {
        if (s->kind == loop::StmtKind::kStore) add(footprint.writes, s->buffer);
        return true;
      },
      [&](const loop::Expr& e) {
        if (e->kind == loop::ExprKind::kLoad) add(footprint.reads, e->buffer);
      });
  return footprint;
}

bool Meet(const BufferSet& a, const BufferSet& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto* buffer) { return b.contains(buffer); });
}

}  // namespace

std::vector<bool> BarriersBefore(const std::vector<loop::Launch>& launches) {
  std::vector<bool> barriers;
  Footprint since;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (i > 0 && launches[i - 1].phase != launches[i].phase) since = {};
    const Footprint own = FootprintOf(launches[i].body);
    const bool waits = Meet(own.reads, since.writes) || Meet(own.writes, since.writes) ||
                       Meet(own.writes, since.reads);
    if (waits) since = {};
    since.reads.insert(own.reads.begin(), own.reads.end());
    since.writes.insert(own.writes.begin(), own.writes.end());
    barriers.push_back(waits);
  }
  return barriers;
}

}  // namespace hone::lower
