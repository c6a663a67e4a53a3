#include "compiler/schedule/primitives/peel.h"

#include <algorithm>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Expr;
using loop::Stmt;

namespace {

// The body for iteration `value`, with loops of its own names.
Stmt CopyFor(const loop::Nest& nest, const Stmt& loop, int64_t value, const std::string& suffix,
             Ranges& ranges) {
  loop::VarMap map;
  map[loop->var.get()] = Expr(value);
  Stmt copy = loop::RenameFresh(loop::Substitute(loop->body[0], map), [&](const std::string& name) {
    return UniqueLoopName(nest, name + suffix);
  });
  return Simplify(copy, ranges);
}

}  // namespace

absl::Status Peel(loop::Nest* nest, const std::string& name, int64_t first, int64_t last) {
  HONE_ASSIGN_OR_RETURN(const Site site, FindLoop(*nest, name));
  const Stmt& loop = site.stmt;
  Ranges ranges = RangesAt(site);
  int64_t min = 0;
  int64_t extent = 0;
  if (!loop::IsConstInt(Simplify(loop->min, ranges), &min) ||
      !loop::IsConstInt(Simplify(loop->extent, ranges), &extent)) {
    return absl::FailedPreconditionError(
        fmt::format("only loops of constant bounds can be peeled, '{}' has {} iterations", name,
                    loop::ToText(loop->extent)));
  }
  if (extent <= 1 || first + last == 0) return absl::OkStatus();
  first = std::min(first, extent);
  last = std::min(last, extent - first);
  const int64_t kept = extent - first - last;
  std::vector<Stmt> heads;
  std::vector<Stmt> tails;
  const auto suffix = [](const char* word, int64_t i) {
    return i == 0 ? std::string(word) : word + std::to_string(i);
  };
  for (int64_t i = 0; i < first; ++i) {
    heads.push_back(CopyFor(*nest, loop, min + i, suffix("_first", i), ranges));
  }
  for (int64_t i = 0; i < last; ++i) {
    tails.push_back(CopyFor(*nest, loop, min + first + kept + i, suffix("_last", i), ranges));
  }
  Stmt middle;
  if (kept > 0) {
    ranges.Push(loop->var, {min + first, min + first + kept - 1});
    middle = Simplify(loop->body[0], ranges);
    ranges.Pop();
  }
  if (loop->loop_kind == loop::LoopKind::kParallel) {
    // if (i < first) head else if (i < n - last) middle else tail
    Stmt body = std::move(middle);
    const auto either = [&](int64_t value, Stmt copy, bool below) {
      if (body == nullptr) {
        body = std::move(copy);
        return;
      }
      const Expr is_copy = loop::Eq(loop->var, Expr(value));
      if (copy == nullptr) {
        body = loop::If(loop::Unary(loop::UnaryOp::kNot, is_copy), std::move(body));
      } else {
        body = loop::If(is_copy, std::move(copy), std::move(body));
      }
    };
    for (int64_t i = last; i-- > 0;) either(min + first + kept + i, tails[i], false);
    for (int64_t i = first; i-- > 0;) either(min + i, heads[i], true);
    ReplaceAt(nest, site, loop::For(loop->var, loop->min, loop->extent, body, loop->loop_kind));
    return absl::OkStatus();
  }
  std::vector<Stmt> parts = std::move(heads);
  if (middle != nullptr) {
    if (kept == 1) {
      loop::VarMap map;
      map[loop->var.get()] = Expr(min + first);
      parts.push_back(Simplify(loop::Substitute(middle, map), ranges));
    } else {
      parts.push_back(loop::For(loop->var, min + first, kept, std::move(middle), loop->loop_kind));
    }
  }
  parts.insert(parts.end(), tails.begin(), tails.end());
  std::erase(parts, nullptr);
  ReplaceAt(nest, site, parts.empty() ? nullptr : loop::Seq(std::move(parts)));
  return absl::OkStatus();
}

}  // namespace hone::schedule
