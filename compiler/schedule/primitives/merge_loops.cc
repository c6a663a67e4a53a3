#include "compiler/schedule/primitives/merge_loops.h"

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/dependence.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Stmt;
using loop::StmtKind;

namespace {

enum class Place { kLaunches, kSequence, kApart };

Place PlaceOf(const loop::Nest& nest, const Site& first, const Site& second) {
  if (first.path.empty() && second.path.empty()) {
    const bool behind = second.launch == first.launch + 1 &&
                        nest.launches[first.launch].phase == nest.launches[second.launch].phase;
    return behind ? Place::kLaunches : Place::kApart;
  }
  if (first.path.empty() || second.path.empty()) return Place::kApart;
  const auto& [around, at] = first.path.back();
  const auto& [also, next] = second.path.back();
  const bool behind = around == also && around->kind == StmtKind::kSeq && next == at + 1;
  return behind ? Place::kSequence : Place::kApart;
}

}  // namespace

absl::Status MergeLoops(loop::Nest* nest, const Loop& first_loop, const Loop& second_loop) {
  HONE_ASSIGN_OR_RETURN(const Site first, FindLoop(*nest, first_loop));
  HONE_ASSIGN_OR_RETURN(const Site second, FindLoop(*nest, second_loop));
  const Place place = PlaceOf(*nest, first, second);
  const auto refuse = [&](const char* why) {
    return absl::FailedPreconditionError(fmt::format("loops '{}' and '{}' cannot be merged: {}",
                                                     first_loop.name(), second_loop.name(), why));
  };
  if (place == Place::kApart) return refuse("the second does not stand directly behind the first");
  const loop::StmtNode& a = *first.stmt;
  const loop::StmtNode& b = *second.stmt;
  if (!loop::StructuralEqual(a.min, b.min) || !loop::StructuralEqual(a.extent, b.extent) ||
      a.loop_kind != b.loop_kind) {
    return refuse("they differ in bounds or kind");
  }
  const Stmt merged = loop::For(
      a.var, a.min, a.extent,
      loop::Seq({a.body[0], loop::Substitute(b.body[0], {{b.var.get(), a.var}})}), a.loop_kind);
  if (!IterationsIndependent(merged, BoundsAt(first))) {
    return refuse("their iterations are not known to be independent");
  }
  if (place == Place::kLaunches) {
    ReplaceAt(nest, first, merged);
    nest->launches.erase(nest->launches.begin() + static_cast<ptrdiff_t>(second.launch));
    return absl::OkStatus();
  }
  const auto& [sequence, at] = first.path.back();
  std::vector<Stmt> stmts = sequence->body;
  stmts[at] = merged;
  stmts.erase(stmts.begin() + static_cast<ptrdiff_t>(at) + 1);
  Site around = first;
  around.stmt = sequence;
  around.path.pop_back();
  ReplaceAt(nest, around, loop::Seq(std::move(stmts)));
  return absl::OkStatus();
}

}  // namespace hone::schedule
