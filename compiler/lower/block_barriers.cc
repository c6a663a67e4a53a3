#include "compiler/lower/block_barriers.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "compiler/lower/block_access.h"
#include "compiler/lower/thread_loops.h"

namespace hone::lower {
namespace {

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
  bool ReusesMemory(const BlockAccess& own) const {
    return own.WritesShared() && since_.TouchesSharedBut(live_);
  }

  Stmt RunThreads(const Stmt& s) {
    const BlockAccess own(s, loops_);
    const bool waits = own.DependsOn(since_) || ReusesMemory(own);
    if (waits) since_ = {};
    since_.Add(own);
    return waits ? loop::Seq({loop::Barrier(), s}) : s;
  }

  // What an iteration may find at its beginning is what was there before the loop, and what the
  // iterations before it leave, of which there may be few. Behind a loop that may have no
  // iterations, there is the former, too.
  Stmt RunLoop(const Stmt& s) {
    const loop::ExprNode* const var = s->kind == StmtKind::kFor ? s->var.get() : nullptr;
    int64_t iterations = std::numeric_limits<int64_t>::max();
    if (var != nullptr) {
      loops_.insert(var);
      loop::IsConstInt(s->extent, &iterations);
    }
    const BlockAccess before = since_;
    BlockAccess found = before;
    Stmt body;
    for (int64_t i = 0;; ++i) {
      since_ = found;
      body = Run(s->body[0]);
      BlockAccess next = found;
      next.Add(var == nullptr ? since_ : since_.InNextIteration(var));
      if (next == found || i + 1 >= iterations) break;
      found = std::move(next);
    }
    if (var != nullptr) {
      loops_.erase(var);
      since_ = since_.BehindLoop(var);
    }
    since_.Add(before);
    return WithBody(*s, {std::move(body)});
  }

  Stmt RunBranches(const Stmt& s) {
    const BlockAccess before = since_;
    BlockAccess after;
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

  BlockAccess since_;
  BlockAccess::Variables loops_;            // around the statement
  std::set<const loop::BufferNode*> live_;  // shared buffers that are allocated around it
};

}  // namespace

Stmt WithBlockBarriers(const Stmt& body) { return Placement().Run(body); }

}  // namespace hone::lower
