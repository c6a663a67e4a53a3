#include "compiler/schedule/primitives/peel.h"

#include <algorithm>
#include <optional>

#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Bounds;
using loop::Expr;
using loop::Stmt;

namespace {

// How the iterations of a loop are divided.
struct Cut {
  int64_t min = 0;
  int64_t first = 0;
  int64_t kept = 0;
  int64_t last = 0;
};

absl::StatusOr<Cut> CutOf(const loop::StmtNode& loop, int64_t first, int64_t last,
                          const Bounds& bounds) {
  Cut cut;
  int64_t extent = 0;
  if (!loop::IsConstInt(Simplify(loop.min, bounds), &cut.min) ||
      !loop::IsConstInt(Simplify(loop.extent, bounds), &extent)) {
    return absl::FailedPreconditionError(
        fmt::format("only loops of constant bounds can be peeled, '{}' has {} iterations",
                    loop.var->name, loop::ToText(loop.extent)));
  }
  if (extent > 1) {
    cut.first = std::min(first, extent);
    cut.last = std::min(last, extent - cut.first);
  }
  cut.kept = extent - cut.first - cut.last;
  return cut;
}

// The body for a part of the iterations, simplified by what they are.
class Copies {
 public:
  // `grid`: parallel loops between the loop and `body`.
  Copies(const loop::Nest& nest, const Stmt& loop, std::vector<Stmt> grid, Stmt body,
         const Bounds& outside)
      : nest_(nest),
        loop_(loop),
        grid_(std::move(grid)),
        body_(std::move(body)),
        outside_(outside) {}

  // With loops of its own names.
  Stmt For(int64_t value, const std::string& suffix) const {
    const Stmt copy = loop::RenameFresh(
        loop::Substitute(body_, {{loop_->var.get(), Expr(value)}}),
        [&](const std::string& name) { return UniqueLoopName(nest_, name + suffix); });
    return Simplify(copy, Inside(loop::Interval::Point(value)));
  }
  Stmt Between(int64_t min, int64_t max) const { return Simplify(body_, Inside({min, max})); }

 private:
  Bounds Inside(const loop::Interval& iterations) const {
    Bounds inside = outside_;
    inside.Push(loop_->var, iterations);
    for (const Stmt& grid : grid_) inside.PushLoop(*grid);
    return inside;
  }

  const loop::Nest& nest_;
  const Stmt& loop_;
  std::vector<Stmt> grid_;
  Stmt body_;
  const Bounds& outside_;
};

// The iterations in their order: of the middle, if any, `value` is not set.
struct Part {
  std::optional<int64_t> value;
  Stmt body;
};

std::vector<Part> Divide(const Cut& cut, const Copies& copies) {
  const auto suffix = [](const char* word, int64_t i) {
    return i == 0 ? std::string(word) : word + std::to_string(i);
  };
  std::vector<Part> parts;
  for (int64_t i = 0; i < cut.first; ++i) {
    parts.push_back({cut.min + i, copies.For(cut.min + i, suffix("_first", i))});
  }
  const int64_t end = cut.min + cut.first + cut.kept;
  if (cut.kept > 0) parts.push_back({{}, copies.Between(cut.min + cut.first, end - 1)});
  for (int64_t i = 0; i < cut.last; ++i) {
    parts.push_back({end + i, copies.For(end + i, suffix("_last", i))});
  }
  return parts;
}

// if (i == n - 1) tail else if (i == 0) head else middle.
Stmt Choose(const Expr& var, const std::vector<Part>& parts) {
  Stmt chosen = loop::Seq({});
  for (const Part& part : parts) {
    if (!part.value) chosen = part.body;
  }
  for (const Part& part : parts) {
    if (!part.value) continue;
    const Expr here = loop::Eq(var, Expr(*part.value));
    if (loop::IsEmpty(chosen)) {
      chosen = part.body;
    } else if (loop::IsEmpty(part.body)) {
      chosen = loop::If(loop::Unary(loop::UnaryOp::kNot, here), std::move(chosen));
    } else {
      chosen = loop::If(here, part.body, std::move(chosen));
    }
  }
  return chosen;
}

Stmt OneAfterTheOther(const loop::StmtNode& loop, const Cut& cut, const std::vector<Part>& parts,
                      const Bounds& bounds) {
  std::vector<Stmt> sequence;
  for (const Part& part : parts) {
    Stmt s = part.body;
    if (!part.value) {
      s = loop::For(loop.var, cut.min + cut.first, cut.kept, s, loop.loop_kind);
      if (cut.kept == 1 || loop::IsEmpty(part.body)) s = Simplify(s, bounds);
    }
    sequence.push_back(std::move(s));
  }
  return loop::Seq(std::move(sequence));
}

}  // namespace

absl::Status Peel(loop::Nest* nest, const Loop& peeled, int64_t first, int64_t last) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, peeled));
  const Stmt& loop = site.stmt;
  const Bounds bounds = BoundsAt(site);
  HONE_ASSIGN_OR_RETURN(const Cut cut, CutOf(*loop, first, last, bounds));
  if (cut.first + cut.last == 0) return absl::OkStatus();
  // Parallel loops stay nested perfectly: what differs is the body of the innermost.
  const auto is_grid = [](const Stmt& s) {
    return s->kind == loop::StmtKind::kFor && s->loop_kind == loop::LoopKind::kParallel;
  };
  std::vector<Stmt> grid;
  Stmt body = loop->body[0];
  for (; is_grid(loop) && is_grid(body); body = body->body[0]) grid.push_back(body);
  const std::vector<Part> parts = Divide(cut, Copies(*nest, loop, grid, body, bounds));
  if (!is_grid(loop)) {
    ReplaceAt(nest, site, OneAfterTheOther(*loop, cut, parts, bounds));
    return absl::OkStatus();
  }
  Stmt result = Choose(loop->var, parts);
  grid.insert(grid.begin(), loop);
  for (size_t i = grid.size(); i-- > 0;) {
    result = loop::For(grid[i]->var, grid[i]->min, grid[i]->extent, std::move(result),
                       grid[i]->loop_kind);
  }
  ReplaceAt(nest, site, std::move(result));
  return absl::OkStatus();
}

}  // namespace hone::schedule
