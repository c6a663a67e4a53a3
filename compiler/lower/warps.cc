#include "compiler/lower/warps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/launch_access.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/lower/thread_loops.h"
#include "compiler/machine/tensor_cores.h"
#include "support/status.h"

namespace hone::lower {
namespace {

using loop::Bounds;
using loop::Expr;
using loop::Linear;
using loop::Stmt;
using loop::StmtKind;
using loop::TileOperation;
using machine::kWarpProduct;

bool IsTileLoop(const Stmt& s) {
  return s->kind == StmtKind::kFor && s->loop_kind == loop::LoopKind::kTile;
}

bool IsTileSum(const loop::BufferNode& buffer) {
  return buffer.scope == loop::Scope::kTile && buffer.dtype == DataType::kFloat32;
}

// Whether the tile loop touches sums that a warp could hold.
bool HasFloatSums(const Stmt& tile_loop) {
  const loop::LaunchAccess access = loop::AccessOf(tile_loop);
  const auto is_sum = [](const loop::BufferNode* buffer) { return IsTileSum(*buffer); };
  return std::ranges::any_of(access.read, is_sum) || std::ranges::any_of(access.written, is_sum);
}

// Whether nothing but tile operations is done.
bool IsOfTiles(const Stmt& s) {
  if (IsTileLoop(s)) return HasFloatSums(s);
  if (s->kind == StmtKind::kStore || s->kind == StmtKind::kWhile ||
      s->kind == StmtKind::kPrefetch || s->kind == StmtKind::kBarrier) {
    return false;
  }
  return !s->body.empty() && std::ranges::all_of(s->body, IsOfTiles);
}

absl::Status CheckUniform(const Stmt& warp_loop) {
  absl::Status status;
  loop::Walk(warp_loop, [&](const Stmt& s) {
    if (!status.ok() || IsTileLoop(s)) return false;
    loop::ForEachExpr(*s, [&](const Expr& e) {
      if (!loop::HasLoad(e)) return;
      status = absl::InvalidArgumentError(fmt::format(
          "expected bounds and conditions in a warp's thread loop '{}' that depend on loops alone, "
          "found {}, which is loaded",
          warp_loop->var->name, loop::ToText(e)));
    });
    return status.ok();
  });
  return status;
}

// Threads of a warp do not wait for each other between its operations, so none may load what
// another one stored.
absl::Status CheckLoadsNothingStored(const Stmt& warp_loop) {
  const loop::LaunchAccess access = loop::AccessOf(warp_loop);
  for (const loop::BufferNode* const buffer : access.written) {
    if (IsTileSum(*buffer) || !access.read.contains(buffer)) continue;
    return absl::InvalidArgumentError(fmt::format(
        "expected tile operations in a warp's thread loop '{}' to load nothing that they store, "
        "found '{}'; store it in a thread loop of its own",
        warp_loop->var->name, buffer->name));
  }
  return absl::OkStatus();
}

bool HasTiles(const Stmt& s) {
  bool found = false;
  loop::Walk(s, [&](const Stmt& inside) {
    found = found || (IsTileLoop(inside) && HasFloatSums(inside));
    return !found;
  });
  return found;
}

std::vector<Stmt> ThreadLoopsOf(const Stmt& body) {
  std::vector<Stmt> loops;
  loop::Walk(body, [&](const Stmt& s) {
    if (IsThreadLoop(s)) loops.push_back(s);
    return !IsThreadLoop(s);
  });
  return loops;
}

// A buffer of sums that both touch; null if there is none.
const loop::BufferNode* CommonSums(const loop::LaunchAccess& a, const loop::LaunchAccess& b) {
  for (const loop::BufferSet* const touched : {&a.read, &a.written}) {
    for (const loop::BufferNode* const buffer : *touched) {
      if (IsTileSum(*buffer) && (b.read.contains(buffer) || b.written.contains(buffer))) {
        return buffer;
      }
    }
  }
  return nullptr;
}

// How an index of the sums moves: with the variable of a tile's rows or lanes by one, or with
// neither; nullopt where otherwise, or where it does not start at multiples of `step`.
bool StepsBy(const Expr& index, const Expr& var, int64_t step, const Bounds& bounds) {
  const Linear form = loop::LinearForm(index, bounds);
  if (form.constant() % step != 0 || form.CoefficientOf(var) != 1) return false;
  return std::ranges::all_of(form.terms(), [&](const Linear::Term& term) {
    return term.atom.SameAs(var) ||
           (term.coefficient % step == 0 && !loop::UsesVar(term.atom, var));
  });
}

bool UsesAny(const Expr& e, const std::vector<Expr>& variables) {
  return std::ranges::any_of(variables, [&](const Expr& var) { return loop::UsesVar(e, var); });
}

// The axes of the operation's sums; nullopt where their tiles do not lie side by side.
std::optional<WarpPlan::Tiling> TilingOf(const TileOperation& op, const Bounds& bounds) {
  const Expr& row = op.variables.front();
  const bool multiplies = op.kind == TileOperation::Kind::kMultiply;
  const Expr& lane = multiplies ? op.variables[2] : op.variables.back();
  std::optional<size_t> row_axis, lane_axis;
  for (size_t axis = 0; axis < op.indices.size(); ++axis) {
    const Expr& index = op.indices[axis];
    if (!UsesAny(index, op.variables)) continue;
    if (!row_axis && !loop::UsesVar(index, lane) &&
        StepsBy(index, row, kWarpProduct.rows, bounds)) {
      row_axis = axis;
    } else if (!lane_axis && !loop::UsesVar(index, row) &&
               StepsBy(index, lane, kWarpProduct.lanes, bounds)) {
      lane_axis = axis;
    } else {
      return std::nullopt;
    }
  }
  if (!row_axis || !lane_axis) return std::nullopt;
  return WarpPlan::Tiling{*row_axis, *lane_axis};
}

// Memory that all threads of a warp can touch.
bool IsCommon(const Expr& load) {
  return load->buffer->scope == loop::Scope::kGlobal || load->buffer->scope == loop::Scope::kShared;
}

// An instruction takes 8 words of 32 bits of each row: two terms a word, or one of float32.
bool AreWholeWords(const TileOperation& op) {
  constexpr int64_t kWordBytes = 4;
  constexpr int64_t kWords = kWarpProduct.terms / 2;
  return op.dot * SizeBytes(op.left.load->dtype) == kWordBytes && op.steps % kWords == 0;
}

bool IsWarpFactor(DataType dtype) {
  return dtype == DataType::kBFloat16 || dtype == DataType::kFloat16 || dtype == DataType::kFloat32;
}

bool HasWarpInstruction(const TileOperation& op) {
  if (op.rows != kWarpProduct.rows) return false;
  switch (op.kind) {
    case TileOperation::Kind::kZero:
      return true;
    case TileOperation::Kind::kStore:
      return op.target.load->dtype == DataType::kFloat32 && IsCommon(op.target.load);
    case TileOperation::Kind::kMultiply: {
      const DataType left = op.left.load->dtype;
      return IsWarpFactor(left) && op.right.load->dtype == left && AreWholeWords(op) &&
             IsCommon(op.left.load) && IsCommon(op.right.load);
    }
  }
  return false;
}

class WarpPlanner {
 public:
  absl::StatusOr<WarpPlan> Run(const Stmt& body, const Bounds& bounds) && {
    Visit(body, bounds);
    if (!status_.ok()) return status_;
    return std::move(plan_);
  }

 private:
  void Visit(const Stmt& s, const Bounds& bounds) {
    if (!status_.ok()) return;
    if (IsTileLoop(s)) return Add(s, bounds);
    if (s->kind == StmtKind::kAlloc && IsTileSum(*s->buffer)) {
      allocations_[s->buffer.get()] = s.get();
    }
    for (size_t i = 0; i < s->body.size(); ++i) {
      Bounds inner = bounds;
      if (s->kind == StmtKind::kFor) inner.PushLoop(*s);
      if (s->kind == StmtKind::kIf) inner.Assume(s->condition, i == 0);
      Visit(s->body[i], inner);
    }
  }

  void Add(const Stmt& s, const Bounds& bounds) {
    const std::optional<TileOperation> op = loop::MatchTile(s, bounds);
    if (!op || !HasWarpInstruction(*op)) {
      return Refuse(s, fmt::format("{} rows by 8 or 16 lanes, and of products 8 or 16 steps of two "
                                   "bfloat16, two float16 or one float32",
                                   kWarpProduct.rows));
    }
    Bounds inside = bounds;
    for (Stmt loop = s; loop->kind == StmtKind::kFor; loop = loop->body[0]) inside.PushLoop(*loop);
    const std::optional<WarpPlan::Tiling> tiling = TilingOf(*op, inside);
    const auto allocation = allocations_.find(op->sums.get());
    if (!tiling || allocation == allocations_.end() ||
        plan_.sums.try_emplace(allocation->second, *tiling).first->second != *tiling) {
      return Refuse(s,
                    fmt::format("sums in tiles of {} by {} side by side, along the same two axes "
                                "everywhere",
                                kWarpProduct.rows, kWarpProduct.lanes));
    }
    plan_.operations[s.get()] = *op;
  }

  void Refuse(const Stmt& s, const std::string& expected) {
    status_ = absl::InvalidArgumentError(fmt::format(
        "expected tile operations of a warp, {}, found\n{}", expected, loop::ToText(s)));
  }

  absl::Status status_;
  WarpPlan plan_;
  absl::flat_hash_map<const loop::BufferNode*, const loop::StmtNode*> allocations_;
};

}  // namespace

bool IsWarpLoop(const Stmt& thread_loop) {
  Stmt inside = thread_loop;
  while (IsThreadLoop(inside)) {
    const Stmt body = inside->body[0];
    inside = body;
  }
  return IsOfTiles(inside);
}

bool HasTilesInThreads(const Stmt& body) {
  return std::ranges::any_of(ThreadLoopsOf(body), HasTiles);
}

absl::Status CheckWarpLoops(const Stmt& body) {
  loop::LaunchAccess of_warps;
  for (const Stmt& s : ThreadLoopsOf(body)) {
    if (!IsWarpLoop(s)) continue;
    of_warps.Add(loop::AccessOf(s));
    HONE_RETURN_IF_ERROR(CheckUniform(s));
    HONE_RETURN_IF_ERROR(CheckLoadsNothingStored(s));
  }
  for (const Stmt& s : ThreadLoopsOf(body)) {
    if (IsWarpLoop(s)) continue;
    if (HasTiles(s)) {
      return absl::InvalidArgumentError(fmt::format(
          "expected nothing but tile operations in thread loop '{}', which a warp does, found\n{}",
          s->var->name, loop::ToText(s)));
    }
    if (const loop::BufferNode* const sums = CommonSums(loop::AccessOf(s), of_warps)) {
      return absl::InvalidArgumentError(
          fmt::format("expected tile operations alone to touch the sums '{}', which warps hold, "
                      "found thread loop '{}', which does something else",
                      sums->name, s->var->name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<WarpPlan> PlanWarps(const Stmt& body, const Bounds& bounds) {
  return WarpPlanner().Run(body, bounds);
}

}  // namespace hone::lower
