#include "compiler/lower/copy_groups.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/scalar.h"
#include "compiler/loop/visit.h"
#include "compiler/lower/block_access.h"
#include "compiler/lower/thread_loops.h"

namespace hone::lower {
namespace {

using loop::Expr;
using loop::ExprKind;
using loop::Stmt;
using loop::StmtKind;

// An access of a thread loop to a shared buffer.
struct SharedAccess {
  std::optional<Slot> slot;
  Stmt loop;       // the innermost one around the thread loop, without a condition between; or null
  Stmt threads;    // the thread loop
  int number = 0;  // of the thread loop, in the order of the text
  bool copies = false;  // a store of what global memory holds, or zero
};
struct SharedAccesses {
  std::vector<SharedAccess> stores, loads;
};
// In the order of the text.
using AccessesByBuffer = std::vector<std::pair<const loop::BufferNode*, SharedAccesses>>;

bool IsFromGlobal(const Expr& value) {
  Expr loaded = value;
  while (loaded->kind == ExprKind::kSelect) loaded = loaded->operands[1];
  return loaded->kind == ExprKind::kLoad && loaded->buffer->scope == loop::Scope::kGlobal;
}

class AccessFinder {
 public:
  AccessesByBuffer Find(const Stmt& body) {
    Visit(body, nullptr);
    return std::move(all_);
  }

 private:
  void Visit(const Stmt& s, const Stmt& loop) {
    if (IsThreadLoop(s)) return VisitThreads(s, loop);
    const bool is_loop = s->kind == StmtKind::kFor;
    const bool hides = s->kind == StmtKind::kIf || s->kind == StmtKind::kWhile;
    for (const Stmt& child : s->body) Visit(child, is_loop ? s : hides ? nullptr : loop);
  }

  void VisitThreads(const Stmt& s, const Stmt& loop) {
    ++number_;
    SharedAccess access{.slot = {}, .loop = loop, .threads = s, .number = number_};
    loop::Walk(
        s,
        [&](const Stmt& inside) {
          if (inside->kind != StmtKind::kStore) return true;
          access.copies = IsFromGlobal(inside->value);
          access.slot = SlotOf(*inside->buffer, inside->indices);
          if (SharedAccesses* const of = Of(*inside->buffer)) of->stores.push_back(access);
          return true;
        },
        [&](const Expr& e) {
          if (e->kind != ExprKind::kLoad) return;
          access.copies = false;
          access.slot = SlotOf(*e->buffer, e->operands);
          if (SharedAccesses* const of = Of(*e->buffer)) of->loads.push_back(access);
        });
  }

  SharedAccesses* Of(const loop::BufferNode& buffer) {
    if (buffer.scope != loop::Scope::kShared) return nullptr;
    const auto found = std::ranges::find(all_, &buffer, &AccessesByBuffer::value_type::first);
    return found != all_.end() ? &found->second
                               : &all_.emplace_back(&buffer, SharedAccesses{}).second;
  }

  AccessesByBuffer all_;
  int number_ = 0;
};

// The loops that fill the slots of a buffer.
struct SlotLoops {
  Stmt first;                     // fills the first slots, as many as `ahead`
  Stmt steps;                     // reads a slot in each iteration, and fills another one
  int64_t ahead = 0;              // so many iterations before that is read
  SharedAccess first_copy, copy;  // the stores that do so
};

bool IsLoopOver(const Stmt& loop, const SharedAccess& access) {
  return loop != nullptr && access.loop == loop && access.slot &&
         access.slot->var == loop->var.get();
}

// Whether the loop goes through slots from the first one on, and reads them.
bool ReadsFromFirstSlot(const Stmt& steps, const Slot& slot, int64_t slots) {
  int64_t min = 0;
  return loop::IsConstInt(steps->min, &min) && loop::FloorModInt(min + slot.offset, slots) == 0;
}

bool FillsFirstSlots(const Stmt& first, const Slot& slot, int64_t ahead) {
  int64_t min = 0, extent = 0;
  return loop::IsConstInt(first->min, &min) && loop::IsConstInt(first->extent, &extent) &&
         min == 0 && extent == ahead && slot.offset == 0;
}

std::optional<SlotLoops> SlotLoopsOf(const loop::BufferNode& buffer, const SharedAccesses& found) {
  const int64_t slots = buffer.shape.empty() ? 0 : buffer.shape[0];
  if (slots < 2 || found.stores.size() < 2 || found.loads.empty()) return std::nullopt;
  const SharedAccess& first = found.stores.front();
  const SharedAccess& last = found.stores.back();
  const SharedAccess& read = found.loads.front();
  SlotLoops loops{.first = first.loop, .steps = last.loop, .first_copy = first, .copy = last};
  if (!IsLoopOver(loops.first, first) || !IsLoopOver(loops.steps, last) || !read.slot ||
      read.slot->var != last.slot->var || !ReadsFromFirstSlot(loops.steps, *read.slot, slots)) {
    return std::nullopt;
  }
  loops.ahead = loop::FloorModInt(last.slot->offset - read.slot->offset, slots);
  if (loops.ahead == 0 || !FillsFirstSlots(loops.first, *first.slot, loops.ahead)) {
    return std::nullopt;
  }
  const auto is_copy = [&](const SharedAccess& store) {
    const SharedAccess& like = store.loop == loops.first ? first : last;
    return store.copies && store.slot == like.slot && store.loop == like.loop &&
           store.threads == like.threads;
  };
  const auto is_read_behind = [&](const SharedAccess& load) {
    return load.slot == read.slot && load.number > last.number;
  };
  if (loops.first == loops.steps || !std::ranges::all_of(found.stores, is_copy) ||
      !std::ranges::all_of(found.loads, is_read_behind)) {
    return std::nullopt;
  }
  return loops;
}

// Puts commits behind the last copy of each loop, and says what barriers leave pending.
class GroupWriter : public loop::Mutator {
 public:
  void Add(const SlotLoops& loops) {
    AddCopy(loops.first, loops.first_copy);
    AddCopy(loops.steps, loops.copy);
    pending_of_.try_emplace(loops.first.get(), 0);
    const auto later = static_cast<int>(loops.ahead - 1);
    int& pending = pending_of_.try_emplace(loops.steps.get(), later).first->second;
    pending = std::min(pending, later);
  }

  Stmt Rewrite(const Stmt& s) override {
    if (s->kind == StmtKind::kBarrier) return loop::Barrier(pending_);
    if (s == commit_behind_) return loop::Seq({s, loop::Commit()});
    if (IsThreadLoop(s)) return s;
    const auto pending = pending_of_.find(s.get());
    if (pending == pending_of_.end()) return RewriteChildren(s);
    const int outer_pending = std::exchange(pending_, pending->second);
    const Stmt outer = std::exchange(commit_behind_, last_copy_.at(s.get()).threads);
    Stmt loop = RewriteChildren(s);
    pending_ = outer_pending;
    commit_behind_ = outer;
    return loop;
  }
  using Mutator::Rewrite;

 private:
  void AddCopy(const Stmt& loop, const SharedAccess& copy) {
    SharedAccess& last = last_copy_.try_emplace(loop.get(), copy).first->second;
    if (last.number < copy.number) last = copy;
  }

  absl::flat_hash_map<const loop::StmtNode*, int> pending_of_;  // of barriers in the loops
  absl::flat_hash_map<const loop::StmtNode*, SharedAccess> last_copy_;
  int pending_ = 0;
  Stmt commit_behind_;
};

}  // namespace

CopyGroups FindCopyGroups(const Stmt& body) {
  CopyGroups groups{.body = body, .copied = {}};
  GroupWriter writer;
  for (const auto& [buffer, accesses] : AccessFinder().Find(body)) {
    if (const std::optional<SlotLoops> loops = SlotLoopsOf(*buffer, accesses)) {
      writer.Add(*loops);
      groups.copied.insert(buffer);
    }
  }
  if (!groups.copied.empty()) groups.body = writer.Rewrite(body);
  return groups;
}

}  // namespace hone::lower
