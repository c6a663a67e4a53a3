#include "compiler/lower/block_barriers.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/loop/launch_access.h"
#include "compiler/lower/thread_loops.h"

namespace hone::lower {
namespace {

using loop::LaunchAccess;
using loop::Stmt;
using loop::StmtKind;

// Goes through a body in the order of execution, with what was touched since the last barrier.
class Placement {
 public:
  Stmt Run(const Stmt& s) {
    if (IsThreadLoop(s)) return RunThreads(s);
    if (!HasThreadLoops(s)) return s;
    switch (s->kind) {
      case StmtKind::kFor:
      case StmtKind::kWhile:
        return RunLoop(s);
      case StmtKind::kIf:
        return RunBranches(s);
      case StmtKind::kAlloc:
        return RunAlloc(s);
      default: {
        std::vector<Stmt> body;
        for (const Stmt& child : s->body) body.push_back(Run(child));
        return WithBody(*s, std::move(body));
      }
    }
  }

 private:
  static Stmt WithBody(const loop::StmtNode& s, std::vector<Stmt> body) {
    auto copy = std::make_shared<loop::StmtNode>(s);
    copy->body = std::move(body);
    return copy;
  }

  Stmt RunAlloc(const Stmt& s) {
    if (s->buffer->scope == loop::Scope::kShared) live_.insert(s->buffer.get());
    Stmt body = Run(s->body[0]);
    live_.erase(s->buffer.get());
    return WithBody(*s, {std::move(body)});
  }

  // Whether the memory of what it writes may have been that of a buffer that is gone, and that was
  // touched since the last barrier.
  bool ReusesMemory(const LaunchAccess& own) const {
    const auto is_shared = [](const loop::BufferNode* buffer) {
      return buffer->scope == loop::Scope::kShared;
    };
    const auto is_gone = [&](const loop::BufferNode* buffer) {
      return is_shared(buffer) && !live_.contains(buffer);
    };
    return std::ranges::any_of(own.written, is_shared) &&
           (std::ranges::any_of(since_.read, is_gone) ||
            std::ranges::any_of(since_.written, is_gone));
  }

  Stmt RunThreads(const Stmt& s) {
    const LaunchAccess own = loop::AccessOf(s);
    const bool waits = own.DependsOn(since_) || ReusesMemory(own);
    if (waits) since_ = {};
    since_.Add(own);
    return waits ? loop::Seq({loop::Barrier(), s}) : s;
  }

  // What an iteration leaves untold is there at the next one's beginning, or, of a loop without
  // iterations, what was there before it at its end.
  Stmt RunLoop(const Stmt& s) {
    const LaunchAccess before = since_;
    Run(s->body[0]);
    since_.Add(before);
    Stmt body = Run(s->body[0]);
    since_.Add(before);
    return WithBody(*s, {std::move(body)});
  }

  Stmt RunBranches(const Stmt& s) {
    const LaunchAccess before = since_;
    LaunchAccess after;
    std::vector<Stmt> body;
    for (const Stmt& branch : s->body) {
      since_ = before;
      body.push_back(Run(branch));
      after.Add(since_);
    }
    if (s->body.size() == 1) after.Add(before);
    since_ = std::move(after);
    return WithBody(*s, std::move(body));
  }

  LaunchAccess since_;
  loop::BufferSet live_;  // shared buffers that are allocated around the statement
};

}  // namespace

Stmt WithBlockBarriers(const Stmt& body) { return Placement().Run(body); }

}  // namespace hone::lower
