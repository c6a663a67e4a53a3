#include "compiler/loop/launch_access.h"

#include <algorithm>

#include "compiler/loop/visit.h"

namespace hone::loop {

void LaunchAccess::Add(const LaunchAccess& other) {
  read.insert(other.read.begin(), other.read.end());
  written.insert(other.written.begin(), other.written.end());
}

bool LaunchAccess::DependsOn(const LaunchAccess& earlier) const {
  const auto meet = [](const BufferSet& a, const BufferSet& b) {
    return std::ranges::any_of(a, [&](const BufferNode* buffer) {
      return (buffer->scope == Scope::kGlobal || buffer->scope == Scope::kShared) &&
             b.contains(buffer);
    });
  };
  return meet(read, earlier.written) || meet(written, earlier.written) ||
         meet(written, earlier.read);
}

LaunchAccess AccessOf(const Launch& launch) { return AccessOf(launch.body); }

LaunchAccess AccessOf(const Stmt& body) {
  LaunchAccess access;
  Walk(
      body,
      [&](const Stmt& s) {
        if (s->kind == StmtKind::kStore) access.written.insert(s->buffer.get());
        return true;
      },
      [&](const Expr& e) {
        if (e->kind == ExprKind::kLoad) access.read.insert(e->buffer.get());
      });
  return access;
}

BufferSet ReadIn(const Nest& nest, Phase phase) {
  BufferSet read;
  for (const Launch& launch : nest.launches) {
    if (launch.phase == phase) read.merge(AccessOf(launch).read);
  }
  return read;
}

}  // namespace hone::loop
