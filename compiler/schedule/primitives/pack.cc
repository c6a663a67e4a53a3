#include "compiler/schedule/primitives/pack.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/loop/visit.h"
#include "compiler/machine/memory.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;

namespace {

std::vector<int64_t> PaddedShape(const loop::BufferNode& buffer) {
  std::vector<int64_t> padded;
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    padded.push_back(buffer.layout.PaddedExtent(static_cast<int>(d), buffer.shape[d]));
  }
  return padded;
}

Expr LoopVar(const Buffer& buffer, const char* what, size_t axis) {
  return loop::Var(fmt::format("{}.{}{}", buffer->name, what, axis));
}

// One element; pad lanes are zero.
Stmt CopyElement(const Buffer& from, const Buffer& to, const std::vector<Expr>& indices) {
  const std::vector<int64_t> padded = PaddedShape(*to);
  Expr inside;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (padded[d] == from->shape[d]) continue;
    const Expr below = loop::Lt(indices[d], from->shape[d]);
    inside = inside ? loop::And(inside, below) : below;
  }
  Expr value = loop::Load(from, indices);
  if (inside) value = loop::Select(inside, value, loop::Const(0, from->dtype));
  return loop::Store(to, indices, value);
}

// A loop an axis, for a template to schedule.
Stmt CopyStage(const Buffer& from, const Buffer& to) {
  const std::vector<int64_t> padded = PaddedShape(*to);
  std::vector<Expr> vars;
  for (size_t d = 0; d < padded.size(); ++d) vars.push_back(LoopVar(to, "i", d));
  Stmt body = CopyElement(from, to, vars);
  for (size_t d = vars.size(); d-- > 0;) {
    body = loop::For(vars[d], 0, padded[d], std::move(body));
  }
  return body;
}

// The least divisor of `extent` from `least` on that is not far above it; else 1.
int64_t TransposeTile(int64_t extent, int64_t least) {
  constexpr int64_t kFar = 4;
  for (int64_t tile = least; tile <= std::min(extent, kFar * least); ++tile) {
    if (extent % tile == 0) return tile;
  }
  return 1;
}

// How many indices of each axis a piece of the copy has: a block's, and of the others so many that
// whole cache lines of row-major `from` are read. Both sides of a piece fit into the first cache:
// one that were read or written in long strides would take every line of it from far away many
// times.
std::vector<int64_t> PieceOf(const loop::BufferNode& to) {
  const std::vector<int64_t> padded = PaddedShape(to);
  std::vector<int64_t> piece(padded.size());
  int64_t run_bytes = SizeBytes(to.dtype);
  for (size_t d = padded.size(); d-- > 0; run_bytes *= piece[d]) {
    const int64_t block = to.layout.BlockOf(static_cast<int>(d));
    piece[d] =
        block > 1 ? block : TransposeTile(padded[d], CeilDiv(machine::kLineBytes, run_bytes));
  }
  return piece;
}

// Piece by piece: those as they follow one another in `to`, within each as in `from`.
Stmt CopyByPieces(const Buffer& from, const Buffer& to) {
  const std::vector<int64_t> padded = PaddedShape(*to);
  const std::vector<int64_t> piece = PieceOf(*to);
  std::vector<Expr> outer, inner, indices;
  for (size_t d = 0; d < piece.size(); ++d) {
    outer.push_back(LoopVar(to, "o", d));
    inner.push_back(LoopVar(to, "i", d));
    Expr index = piece[d] == 1 ? outer[d] : inner[d];
    if (piece[d] > 1 && piece[d] < padded[d]) index = outer[d] * Expr(piece[d]) + inner[d];
    indices.push_back(std::move(index));
  }
  Stmt body = CopyElement(from, to, indices);
  for (size_t d = piece.size(); d-- > 0;) {
    if (piece[d] > 1) body = loop::For(inner[d], 0, piece[d], std::move(body));
  }
  const std::vector<Layout::Dim>& dims = to->layout.dims();
  for (size_t i = dims.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(dims[i].axis);
    if (dims[i].factor != 0 || (piece[d] > 1 && piece[d] == padded[d])) continue;
    body = loop::For(outer[d], 0, padded[d] / piece[d], std::move(body));
  }
  return body;
}

}  // namespace

absl::StatusOr<Stage> Pack(loop::Nest* nest, const std::string& name, const Layout& layout) {
  HONE_ASSIGN_OR_RETURN(const Buffer buffer, FindBuffer(*nest, name));
  if (buffer->role == loop::Role::kOutput) {
    return absl::FailedPreconditionError(fmt::format("'{}' is an output, not read", name));
  }
  if (layout.rank() != static_cast<int>(buffer->shape.size())) {
    return absl::InvalidArgumentError(fmt::format("layout '{}' does not fit '{}' of rank {}",
                                                  layout.ToString(), name, buffer->shape.size()));
  }
  const bool constant = buffer->role == loop::Role::kConstant;
  auto copy = std::make_shared<loop::BufferNode>(*buffer);
  copy->name = name + ".packed";
  for (int i = 1; FindBuffer(*nest, copy->name).ok(); ++i) {
    copy->name = fmt::format("{}.packed{}", name, i);
  }
  copy->layout = layout;
  copy->role = constant ? loop::Role::kPrepared : loop::Role::kWorkspace;
  const Buffer packed = std::move(copy);
  // Before the first reader; of a constant, in the prepare phase.
  size_t place = nest->launches.size();
  for (size_t i = 0; i < nest->launches.size(); ++i) {
    loop::Launch& launch = nest->launches[i];
    if (constant && launch.phase == loop::Phase::kRun) place = std::min(place, i);
    if (!Loads(launch.body, buffer)) continue;
    place = std::min(place, i);
    launch.body = loop::Substitute(launch.body, {}, {{buffer.get(), packed}});
  }
  nest->launches.insert(nest->launches.begin() + static_cast<ptrdiff_t>(place),
                        {packed->name, constant ? loop::Phase::kPrepare : loop::Phase::kRun,
                         constant ? CopyByPieces(buffer, packed) : CopyStage(buffer, packed)});
  InsertBuffer(nest, packed);
  return Stage(packed->name);
}

}  // namespace hone::schedule
