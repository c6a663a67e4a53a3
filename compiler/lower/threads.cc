#include "compiler/lower/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/loop/visit.h"
#include "compiler/lower/block_barriers.h"
#include "compiler/lower/copy_groups.h"
#include "compiler/lower/thread_loops.h"
#include "compiler/lower/thread_registers.h"
#include "compiler/lower/warps.h"
#include "compiler/machine/tensor_cores.h"
#include "support/status.h"

namespace hone::lower {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::StmtKind;

// Stores to shared memory beside thread loops are done once a block: by its first thread.
class ByFirstThread : public loop::Mutator {
 public:
  Stmt Rewrite(const Stmt& s) override {
    if (IsThreadLoop(s)) return s;
    if (s->kind != StmtKind::kStore || s->buffer->scope != loop::Scope::kShared) {
      return RewriteChildren(s);
    }
    return loop::For(loop::Var("first"), 0, 1, s, loop::LoopKind::kThread);
  }
};

// Every thread runs what stands around thread loops, and must find the same there.
absl::Status CheckAround(const Stmt& s) {
  if (IsThreadLoop(s)) return absl::OkStatus();
  if (s->kind == StmtKind::kStore) {
    return absl::InvalidArgumentError(fmt::format(
        "expected stores in thread loops, found one to '{}' beside them", s->buffer->name));
  }
  bool loads = false;
  loop::ForEachExpr(*s, [&](const Expr& e) { loads = loads || loop::HasLoad(e); });
  if (loads) {
    return absl::InvalidArgumentError(
        "expected bounds and conditions around thread loops that depend on loops alone, found one "
        "that is loaded");
  }
  for (const Stmt& child : s->body) HONE_RETURN_IF_ERROR(CheckAround(child));
  return absl::OkStatus();
}

// How many threads do an iteration of the thread loop.
int64_t ThreadsOfIteration(const Stmt& thread_loop, bool has_warps) {
  return has_warps && IsWarpLoop(thread_loop) ? machine::kWarpProduct.threads : 1;
}

absl::StatusOr<int64_t> MostThreads(const Stmt& body, bool has_warps) {
  absl::Status status;
  int64_t most = 0;
  loop::Walk(body, [&](const Stmt& s) {
    if (!status.ok() || !IsThreadLoop(s)) return status.ok();
    const absl::StatusOr<ThreadLoops> threads = ThreadLoopsAt(s);
    status = threads.status();
    if (threads.ok()) most = std::max(most, threads->count * ThreadsOfIteration(s, has_warps));
    return false;
  });
  if (!status.ok()) return status;
  return most;
}

// Replaces thread loops by what a thread does of them.
class ByNumber : public loop::Mutator {
 public:
  ByNumber(Expr number, int64_t threads, bool has_warps)
      : number_(std::move(number)), threads_(threads), has_warps_(has_warps) {}

  Stmt Rewrite(const Stmt& s) override {
    if (!IsThreadLoop(s)) return RewriteChildren(s);
    ThreadLoops loops = ThreadLoopsAt(s).value();  // MostThreads has asked the same
    // The threads of an iteration are neighbours.
    const int64_t of_iteration = ThreadsOfIteration(s, has_warps_);
    for (ThreadLoops::Loop& loop : loops.loops) loop.stride *= of_iteration;
    loops.count *= of_iteration;
    loop::VarMap values;
    for (const ThreadLoops::Loop& loop : loops.loops) {
      values[loop.var.get()] = ValueOf(loop, loops.count) + Expr(loop.min);
    }
    Stmt own = loop::Substitute(loops.body, values);
    if (loops.count == threads_) return own;
    return loop::If(loop::Lt(number_, loops.count), std::move(own));
  }

 private:
  Expr ValueOf(const ThreadLoops::Loop& loop, int64_t count) const {
    if (loop.extent == 1) return Expr(0);
    const Expr value = loop.stride == 1 ? number_ : loop::FloorDiv(number_, loop.stride);
    return loop.stride * loop.extent == count ? value : loop::FloorMod(value, loop.extent);
  }

  const Expr number_;
  const int64_t threads_;
  const bool has_warps_;
};

}  // namespace

absl::StatusOr<std::optional<ThreadProgram>> LowerThreads(const Stmt& body,
                                                          const ThreadTraits& traits) {
  if (!HasThreadLoops(body)) return std::nullopt;
  const Stmt stored = ByFirstThread().Rewrite(body);
  HONE_RETURN_IF_ERROR(CheckAround(stored));
  HONE_ASSIGN_OR_RETURN(const int64_t threads, MostThreads(stored, traits.has_warps));
  HONE_ASSIGN_OR_RETURN(const Stmt split, SplitAmongThreads(stored));
  CopyGroups groups{.body = WithBlockBarriers(split), .copied = {}};
  if (traits.copies_in_background) groups = FindCopyGroups(groups.body);
  const GridLoop thread{
      .var = loop::Var("thread"), .min = 0, .extent = std::max<int64_t>(threads, 1)};
  return ThreadProgram{
      .body = ByNumber(thread.var, thread.extent, traits.has_warps).Rewrite(groups.body),
      .thread = thread,
      .copied = std::move(groups.copied)};
}

}  // namespace hone::lower
