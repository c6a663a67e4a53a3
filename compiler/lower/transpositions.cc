#include "compiler/lower/transpositions.h"

#include <algorithm>
#include <vector>

#include "compiler/loop/visit.h"
#include "compiler/lower/lane_walk.h"

namespace hone::lower {
namespace {

using loop::Expr;
using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;

constexpr int64_t kMostRows = 32;  // of stores

bool IsWrittenOut(const Stmt& s) {
  return s->kind == StmtKind::kFor && s->loop_kind == LoopKind::kUnroll &&
         loop::IsConstInt(s->min) && loop::IsConstInt(s->extent);
}

// The tile of an unrolled loop of `rows` iterations around a vectorised one.
class Tile {
 public:
  Tile(const Stmt& rows, const Stmt& between, const Stmt& lanes, const LaneContext& outside,
       int64_t vector_bytes)
      : row_(rows->var),
        between_(between),
        lanes_(lanes),
        vector_bytes_(vector_bytes),
        lane_count_(VectorLanesOf(*lanes)) {
    loop::IsConstInt(rows->extent, &row_count_);
    context_ = outside.Inside(rows);
    if (between != nullptr) context_ = context_.Inside(between);
    context_ = context_.Inside(lanes);
  }

  std::optional<Transposition> WithStore() const {
    const int64_t most_lanes = vector_bytes_ / 4;
    const Stmt& store = lanes_->body[0];
    if (row_count_ < 2 || row_count_ > kMostRows || lane_count_ < kPieceElements ||
        lane_count_ % kPieceElements != 0 || lane_count_ > most_lanes ||
        DependOn({store->value}, *store->buffer)) {
      return std::nullopt;
    }
    const std::optional<int64_t> stride = StrideOf(store->buffer, store->indices);
    if (!stride || *stride < row_count_) return std::nullopt;  // each element is of one row
    if (!AreTilesApart(*store, *stride)) return std::nullopt;
    Transposition found;
    found.between = between_;
    found.lanes = lanes_;
    found.store = stride;
    AddLoads(&found);
    return found;
  }

  std::optional<Transposition> OfLoads() const {
    if (between_ != nullptr || row_count_ < 2 || lane_count_ < 2) return std::nullopt;
    if (std::max(row_count_, lane_count_) > vector_bytes_ / 4) return std::nullopt;
    Transposition found;
    found.lanes = lanes_;
    AddLoads(&found);
    return found.loads.empty() ? std::nullopt : std::optional(found);
  }

 private:
  // Whether no two tiles of the loop between store to the same element: their order changes.
  bool AreTilesApart(const loop::StmtNode& store, int64_t stride) const {
    if (between_ == nullptr) return true;
    int64_t tiles = 0;
    loop::IsConstInt(between_->extent, &tiles);
    const int64_t move =
        MoveOf(context_.OffsetOf(*store.buffer, store.indices), between_->var).value_or(0);
    return tiles <= 1 || move >= stride * lane_count_ ||
           (move >= row_count_ && move * (tiles - 1) + row_count_ <= stride);
  }

  void AddLoads(Transposition* found) const {
    if (row_count_ > vector_bytes_ / 4) return;
    const Stmt& store = lanes_->body[0];
    loop::Walk(store->value, [&](const Expr& e) {
      if (e->kind != loop::ExprKind::kLoad || e->buffer == store->buffer) return;
      if (const auto stride = StrideOf(e->buffer, e->operands)) found->loads[e.get()] = *stride;
    });
  }

  // From lane to lane, if rows are neighbours and the lanes lie apart, all within the buffer.
  std::optional<int64_t> StrideOf(const loop::Buffer& buffer,
                                  const std::vector<Expr>& indices) const {
    const int64_t bytes = SizeBytes(buffer->dtype);
    if (bytes > 4 && std::max(row_count_, lane_count_) * bytes > vector_bytes_) return std::nullopt;
    if (DependOn(indices, *lanes_->body[0]->buffer)) return std::nullopt;
    const loop::Linear offset = context_.OffsetOf(*buffer, indices);
    const std::optional<int64_t> stride = MoveOf(offset, lanes_->var);
    if (MoveOf(offset, row_) != 1 || stride <= 1) return std::nullopt;
    return context_.IsInside(*buffer, indices) ? stride : std::nullopt;
  }

  Expr row_;
  Stmt between_;
  Stmt lanes_;
  int64_t vector_bytes_;
  int64_t lane_count_;
  int64_t row_count_ = 0;
  LaneContext context_;
};

std::optional<Transposition> TranspositionOf(const Stmt& rows, const LaneContext& outside,
                                             int64_t vector_bytes) {
  if (!IsWrittenOut(rows) || outside.lane) return std::nullopt;
  const Stmt& below = rows->body[0];
  const Stmt between = IsWrittenOut(below) ? below : Stmt();
  const Stmt& lanes = between != nullptr ? between->body[0] : below;
  if (VectorLanesOf(*lanes) == 0 || !loop::IsConstInt(lanes->min) ||
      lanes->body[0]->kind != StmtKind::kStore)
    return std::nullopt;
  const Tile tile(rows, between, lanes, outside, vector_bytes);
  if (auto found = tile.WithStore()) return found;
  return tile.OfLoads();
}

}  // namespace

TranspositionPlan PlanTranspositions(const Stmt& body, const loop::Bounds& outside,
                                     int64_t vector_bytes) {
  TranspositionPlan plan;
  WalkLanes(body, outside, [&](const Stmt& s, const LaneContext& context) {
    std::optional<Transposition> found = TranspositionOf(s, context, vector_bytes);
    if (!found) return true;
    plan.emplace(s.get(), *std::move(found));
    return false;
  });
  return plan;
}

}  // namespace hone::lower
