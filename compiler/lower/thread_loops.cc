#include "compiler/lower/thread_loops.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/loop/visit.h"

namespace hone::lower {

bool IsThreadLoop(const loop::Stmt& s) {
  return s->kind == loop::StmtKind::kFor && s->loop_kind == loop::LoopKind::kThread;
}

bool HasThreadLoops(const loop::Stmt& s) {
  bool found = false;
  loop::Walk(s, [&](const loop::Stmt& inside) {
    found = found || IsThreadLoop(inside);
    return !found;
  });
  return found;
}

const ThreadLoops::Loop* ThreadLoops::Find(const loop::ExprNode* var) const {
  const auto found =
      std::ranges::find_if(loops, [&](const Loop& loop) { return loop.var.get() == var; });
  return found == loops.end() ? nullptr : &*found;
}

absl::StatusOr<ThreadLoops> ThreadLoopsAt(const loop::Stmt& outermost) {
  ThreadLoops threads;
  threads.body = outermost;
  while (IsThreadLoop(threads.body)) {
    const loop::Stmt s = threads.body;
    ThreadLoops::Loop loop{.var = s->var};
    if (!loop::IsConstInt(s->min, &loop.min) || !loop::IsConstInt(s->extent, &loop.extent)) {
      return absl::InvalidArgumentError(
          fmt::format("expected constant bounds of thread loop '{}', found {}..+{}", s->var->name,
                      loop::ToText(s->min), loop::ToText(s->extent)));
    }
    threads.loops.push_back(loop);
    threads.body = s->body[0];
  }
  for (size_t i = threads.loops.size(); i-- > 0;) {
    threads.loops[i].stride = threads.count;
    threads.count *= std::max<int64_t>(threads.loops[i].extent, 0);
  }
  if (HasThreadLoops(threads.body)) {
    return absl::InvalidArgumentError(fmt::format(
        "expected thread loops directly in each other, found others in the body of '{}'",
        threads.loops.back().var->name));
  }
  return threads;
}

}  // namespace hone::lower
