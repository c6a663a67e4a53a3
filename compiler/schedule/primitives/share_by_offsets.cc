#include "compiler/schedule/primitives/share_by_offsets.h"

#include <bit>
#include <memory>
#include <utility>

#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Role;
using loop::Stmt;

namespace {

bool IsGrid(const Stmt& s) {
  return s->kind == loop::StmtKind::kFor && s->loop_kind == loop::LoopKind::kParallel;
}

absl::StatusOr<int64_t> RowsOf(const Stmt& loop) {
  int64_t rows = 0;
  if (IsGrid(loop) && !IsGrid(loop->body[0]) && loop::IsInt(loop->min, 0) &&
      loop::IsConstInt(loop->extent, &rows)) {
    return rows;
  }
  return absl::FailedPreconditionError(
      fmt::format("loop '{}' must be the innermost of the parallel ones and count a constant "
                  "number of rows from 0",
                  loop->var->name));
}

absl::Status CheckOffsets(const loop::BufferNode& offsets, int64_t rows) {
  const bool is_integer = offsets.dtype == DataType::kInt32 || offsets.dtype == DataType::kInt64;
  const bool is_fixed = offsets.role == Role::kConstant || offsets.role == Role::kPrepared;
  if (is_integer && is_fixed && offsets.shape == std::vector<int64_t>{rows + 1}) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      fmt::format("'{}' must hold {} integers, constant or prepared", offsets.name, rows + 1));
}

absl::Status CheckSizes(int64_t rows, const ShareWork& work, int64_t shares) {
  constexpr int64_t kMost = int64_t{1} << 60;
  constexpr int64_t kMostOfARow = 1000;
  const bool can_be_counted = work.elements >= 0 && work.elements < kMost &&
                              work.row_elements >= 1 && work.row_elements <= kMostOfARow &&
                              rows < kMost / kMostOfARow;
  if (can_be_counted && shares >= 1 && work.elements + work.row_elements * rows < kMost / shares) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("{} shares of {} elements in {} rows, each of which counts as {} more: expected "
                  "at least one share, 1 to {} more, and numbers that can be multiplied",
                  shares, work.elements, rows, work.row_elements, kMostOfARow));
}

Buffer MakeStarts(const loop::Nest& nest, const std::string& offsets, int64_t rows,
                  int64_t shares) {
  std::string name = offsets + ".shares";
  for (int i = 1; FindBuffer(nest, name).ok(); ++i) name = fmt::format("{}.shares{}", offsets, i);
  auto starts = std::make_shared<loop::BufferNode>(
      *loop::MakeBuffer(name, DataType::kInt64, {shares + 1}, Role::kPrepared));
  starts->domain_high = static_cast<double>(rows);
  starts->ascending = true;
  return starts;
}

// Counts the rows whose middle lies before a share begins. That of no row is at 0, and that of none
// at the end of all the work: none comes before the first share, and all before the end. Middles
// ascend, so rows are counted in steps of falling powers of two: a step is taken where its last row
// still comes before. Where middles do not ascend, a later share takes all steps that an earlier
// one does, or a larger one first, so that no share ends before it begins.
Stmt CountRowsBefore(const loop::Nest& nest, const Buffer& starts, const Buffer& offsets,
                     int64_t rows, const ShareWork& work, int64_t shares) {
  const Expr s = loop::Var(UniqueLoopName(nest, Stage(starts->name).Axis(0).name()));
  const Expr halving = loop::Var(UniqueLoopName(nest, Stage(starts->name).Reduction(0).name()));
  const auto offset = [&](const Expr& at) {
    const Expr held = loop::Cast(DataType::kInt64, loop::Load(offsets, {at}));
    return loop::Min(loop::Max(held, 0), work.elements);
  };
  const int64_t all = work.elements + work.row_elements * rows;
  const auto halvings = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(rows)));
  const Expr step = loop::Binary(loop::BinaryOp::kShiftLeft, 1, halvings - 1 - halving);
  const Expr end = loop::Load(starts, {s}) + step;
  const Expr row = end - 1;
  const Expr twice_middle =
      offset(row) + offset(end) + row * (2 * work.row_elements) + work.row_elements;
  const Stmt take =
      loop::If(loop::Le(twice_middle * shares, s * (2 * all)), loop::Store(starts, {s}, end));
  Stmt take_steps = loop::For(halving, 0, halvings, loop::If(loop::Le(end, rows), take));
  return loop::For(s, 0, shares + 1,
                   loop::Seq({loop::Store(starts, {s}, 0), std::move(take_steps)}),
                   loop::LoopKind::kParallel);
}

void AddPrepareLaunch(loop::Nest* nest, const std::string& name, Stmt body) {
  auto place = nest->launches.begin();
  while (place != nest->launches.end() && place->phase == loop::Phase::kPrepare) ++place;
  nest->launches.insert(place, {name, loop::Phase::kPrepare, std::move(body)});
}

}  // namespace

absl::Status ShareByOffsets(loop::Nest* nest, const Loop& shared, const std::string& offsets_name,
                            const ShareWork& work, int64_t shares) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, shared));
  HONE_ASSIGN_OR_RETURN(const Buffer offsets, FindBuffer(*nest, offsets_name));
  HONE_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(site.stmt));
  HONE_RETURN_IF_ERROR(CheckOffsets(*offsets, rows));
  HONE_RETURN_IF_ERROR(CheckSizes(rows, work, shares));
  const Buffer starts = MakeStarts(*nest, offsets->name, rows, shares);
  Stmt prepare = CountRowsBefore(*nest, starts, offsets, rows, work, shares);
  const Expr share = loop::Var(UniqueLoopName(*nest, shared.Share().name()));
  const Expr first = loop::Load(starts, {share});
  const Expr end = loop::Load(starts, {share + 1});
  Stmt in_share = loop::For(site.stmt->var, first, end - first, site.stmt->body[0]);
  ReplaceAt(nest, site,
            loop::For(share, 0, shares, std::move(in_share), loop::LoopKind::kParallel));
  AddPrepareLaunch(nest, starts->name, std::move(prepare));
  InsertBuffer(nest, starts);
  return absl::OkStatus();
}

}  // namespace hone::schedule
