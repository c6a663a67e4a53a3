#include "compiler/schedule/primitives/peel.h"

#include <algorithm>
#include <functional>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {

using loop::Expr;
using loop::Stmt;

namespace {

// `body` for iteration `value`, with loops of its own names.
Stmt CopyFor(const loop::Nest& nest, const Stmt& body, const Expr& var, int64_t value,
             const std::string& suffix, Ranges& ranges) {
  loop::VarMap map;
  map[var.get()] = Expr(value);
  Stmt copy = loop::RenameFresh(loop::Substitute(body, map), [&](const std::string& name) {
    return UniqueLoopName(nest, name + suffix);
  });
  return Simplify(copy, ranges);
}

// if (i == n - 1) tail else if (i == 0) head else middle, the copies in order of their iterations.
Stmt Choose(const Expr& var, const std::vector<std::pair<int64_t, Stmt>>& copies, Stmt middle) {
  Stmt body = std::move(middle);
  for (const auto& [value, copy] : copies) {
    const Expr is_copy = loop::Eq(var, Expr(value));
    if (body == nullptr) {
      body = copy;
    } else if (copy == nullptr) {
      body = loop::If(loop::Unary(loop::UnaryOp::kNot, is_copy), std::move(body));
    } else {
      body = loop::If(is_copy, copy, std::move(body));
    }
  }
  return body;
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
  // Parallel loops stay nested perfectly: what differs is the body of the innermost.
  const bool parallel = loop->loop_kind == loop::LoopKind::kParallel;
  std::vector<Stmt> inner;
  Stmt target = loop->body[0];
  while (parallel && target->kind == loop::StmtKind::kFor &&
         target->loop_kind == loop::LoopKind::kParallel) {
    inner.push_back(target);
    target = target->body[0];
  }
  const auto simplified = [&](const std::function<Stmt(Ranges&)>& make, Interval iterations) {
    Ranges inside = ranges;
    inside.Push(loop->var, iterations);
    for (const Stmt& grid : inner) inside.PushLoop(*grid);
    return make(inside);
  };
  const auto copy = [&](int64_t value, const std::string& suffix) {
    return simplified(
        [&](Ranges& inside) { return CopyFor(*nest, target, loop->var, value, suffix, inside); },
        {value, value});
  };
  const auto suffix = [](const char* word, int64_t i) {
    return i == 0 ? std::string(word) : word + std::to_string(i);
  };
  std::vector<std::pair<int64_t, Stmt>> heads;
  std::vector<std::pair<int64_t, Stmt>> tails;
  for (int64_t i = 0; i < first; ++i) {
    heads.emplace_back(min + i, copy(min + i, suffix("_first", i)));
  }
  for (int64_t i = 0; i < last; ++i) {
    const int64_t value = min + first + kept + i;
    tails.emplace_back(value, copy(value, suffix("_last", i)));
  }
  Stmt middle;
  if (kept > 0) {
    middle = simplified([&](Ranges& inside) { return Simplify(target, inside); },
                        {min + first, min + first + kept - 1});
  }
  if (parallel) {
    std::vector<std::pair<int64_t, Stmt>> copies = std::move(heads);
    copies.insert(copies.end(), tails.begin(), tails.end());
    Stmt body = Choose(loop->var, copies, std::move(middle));
    if (body == nullptr) body = loop::Seq({});
    for (size_t i = inner.size(); i-- > 0;) {
      body = loop::For(inner[i]->var, inner[i]->min, inner[i]->extent, std::move(body),
                       inner[i]->loop_kind);
    }
    ReplaceAt(nest, site, loop::For(loop->var, loop->min, loop->extent, body, loop->loop_kind));
    return absl::OkStatus();
  }
  std::vector<Stmt> parts;
  for (auto& [value, stmt] : heads) parts.push_back(std::move(stmt));
  if (middle != nullptr) {
    if (kept == 1) {
      loop::VarMap map;
      map[loop->var.get()] = Expr(min + first);
      parts.push_back(Simplify(loop::Substitute(middle, map), ranges));
    } else {
      parts.push_back(loop::For(loop->var, min + first, kept, std::move(middle), loop->loop_kind));
    }
  }
  for (auto& [value, stmt] : tails) parts.push_back(std::move(stmt));
  std::erase(parts, nullptr);
  ReplaceAt(nest, site, parts.empty() ? nullptr : loop::Seq(std::move(parts)));
  return absl::OkStatus();
}

}  // namespace hone::schedule
