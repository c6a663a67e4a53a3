#include "compiler/lower/thread_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/lower/thread_loops.h"
#include "support/status.h"

namespace hone::lower {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Linear;
using loop::Stmt;
using loop::StmtKind;

// How a thread loop takes part in an index. Loops of different bodies that have equal digits are
// the same threads.
struct Digit {
  int64_t stride = 1;  // of the thread's number
  int64_t extent = 1;
  int64_t coefficient = 0;

  auto operator<=>(const Digit&) const = default;
};

// Which part an access is in, and how large it is.
struct Part {
  std::vector<std::vector<Digit>> digits;  // by dimension, the largest coefficient first
  std::vector<int64_t> extents;            // by dimension

  bool operator==(const Part&) const = default;
};

struct Access {
  Part part;
  std::vector<Expr> indices;  // in the part
};

class Splitter {
 public:
  absl::StatusOr<Stmt> Run(const Stmt& body) {
    Stmt split = Rewrite(body);
    if (!status_.ok()) return status_;
    return split;
  }

 private:
  struct Split {
    std::optional<Part> part;  // none before the first access
    std::shared_ptr<loop::BufferNode> own;
  };

  Stmt Rewrite(const Stmt& s) {
    if (!status_.ok()) return s;
    if (!threads_ && IsThreadLoop(s)) return RewriteThreads(s);
    if (!threads_ && s->kind == StmtKind::kAlloc && s->buffer->scope != loop::Scope::kShared &&
        HasThreadLoops(s)) {
      return RewriteAlloc(s);
    }
    return RewriteInside(s);
  }

  Stmt RewriteThreads(const Stmt& s) {
    absl::StatusOr<ThreadLoops> threads = ThreadLoopsAt(s);
    if (!threads.ok()) {
      status_ = threads.status();
      return s;
    }
    threads_ = *std::move(threads);
    Stmt rewritten = RewriteInside(s);
    threads_.reset();
    return rewritten;
  }

  Stmt RewriteAlloc(const Stmt& s) {
    auto own = std::make_shared<loop::BufferNode>(*s->buffer);
    splits_[s->buffer.get()] = {std::nullopt, own};
    Stmt body = Rewrite(s->body[0]);
    const Split& split = splits_.at(s->buffer.get());
    if (split.part) own->shape = split.part->extents;
    splits_.erase(s->buffer.get());
    return loop::Alloc(std::move(own), std::move(body));
  }

  Stmt RewriteInside(const Stmt& s) {
    auto copy = std::make_shared<loop::StmtNode>(*s);
    for (Expr* e : {&copy->min, &copy->extent, &copy->value, &copy->condition}) {
      if (*e) *e = Rewrite(*e);
    }
    for (Expr& e : copy->indices) e = Rewrite(e);
    if (s->kind == StmtKind::kStore && splits_.contains(s->buffer.get())) {
      Access access = AccessOf(s->buffer, copy->indices);
      copy->buffer = splits_.at(s->buffer.get()).own;
      copy->indices = std::move(access.indices);
    }
    for (size_t i = 0; i < s->body.size(); ++i) {
      const loop::Bounds outside = bounds_;
      if (s->kind == StmtKind::kFor) bounds_.PushLoop(*s);
      if (s->kind == StmtKind::kIf) bounds_.Assume(s->condition, i == 0);
      copy->body[i] = Rewrite(s->body[i]);
      bounds_ = outside;
    }
    return copy;
  }

  Expr Rewrite(const Expr& e) {
    if (splits_.empty() || !loop::HasLoad(e)) return e;
    auto copy = std::make_shared<loop::ExprNode>(*e);
    for (Expr& operand : copy->operands) operand = Rewrite(operand);
    if (e->kind == loop::ExprKind::kLoad && splits_.contains(e->buffer.get())) {
      Access access = AccessOf(e->buffer, copy->operands);
      return loop::Load(splits_.at(e->buffer.get()).own, std::move(access.indices));
    }
    return Expr(std::move(copy));
  }

  Access AccessOf(const Buffer& buffer, const std::vector<Expr>& indices) {
    Access access;
    if (!threads_) {
      Refuse(*buffer, indices, "which is outside of thread loops");
      return {.part = {}, .indices = indices};
    }
    for (size_t d = 0; d < indices.size(); ++d) {
      const std::optional<Expr> rest = RestOf(indices[d], buffer->shape[d], &access.part);
      if (!rest) {
        Refuse(*buffer, indices, "whose thread its indices do not say");
        return {.part = {}, .indices = indices};
      }
      access.indices.push_back(*rest);
    }
    std::optional<Part>& known = splits_.at(buffer.get()).part;
    if (known && *known != access.part) {
      Refuse(*buffer, indices, "which is in another thread's part than the accesses before it");
    } else if (!IsOfOneThread(access.part)) {
      Refuse(*buffer, indices, "which several threads touch");
    }
    known = access.part;
    return access;
  }

  // The index in the part, whose extent and digits are added to it. The part of u * 32 + t * 4 + v,
  // where t is a thread's and has 8 iterations, is u * 4 + v.
  std::optional<Expr> RestOf(const Expr& index, int64_t extent, Part* part) const {
    Linear rest;
    std::vector<Digit> digits;
    const Linear form = loop::LinearForm(index, bounds_);
    rest.AddConstant(form.constant());
    for (const Linear::Term& term : form.terms()) {
      const ThreadLoops::Loop* const loop = threads_->Find(term.atom.get());
      if (loop != nullptr) {
        digits.push_back({loop->stride, loop->extent, term.coefficient});
        rest.AddConstant(loop->min * term.coefficient);
      } else if (UsesThreads(term.atom)) {
        return std::nullopt;
      } else {
        rest.AddTerm(term.atom, term.coefficient);
      }
    }
    std::ranges::sort(digits, std::ranges::greater(), &Digit::coefficient);
    const int64_t run = digits.empty() ? extent : digits.back().coefficient;
    if (run <= 0) return std::nullopt;
    int64_t threads = 1;  // whose runs lie between two of one thread
    for (const Digit& digit : digits) {
      if (digit.coefficient % run != 0) return std::nullopt;
      threads = std::max(threads, digit.coefficient / run * digit.extent);
    }
    Linear own;
    const Linear all = rest;
    for (const Linear::Term& term : all.terms()) {
      if (term.coefficient % (run * threads) != 0) continue;
      own.AddTerm(term.atom, term.coefficient / threads);
      rest.AddTerm(term.atom, -term.coefficient);
    }
    if (!loop::BoundsOf(rest, bounds_).Within(0, run - 1)) return std::nullopt;
    own.Add(rest);
    part->digits.push_back(std::move(digits));
    const int64_t turns = (extent + run * threads - 1) / (run * threads);
    part->extents.push_back(run * turns);
    return own.ToExpr();
  }

  bool UsesThreads(const Expr& e) const {
    return std::ranges::any_of(
        threads_->loops, [&](const ThreadLoops::Loop& loop) { return loop::UsesVar(e, loop.var); });
  }

  // Whether no two threads have the same digits: in each dimension they are those of a number, and
  // every loop is in one dimension.
  bool IsOfOneThread(const Part& part) const {
    std::vector<int64_t> strides;
    for (const std::vector<Digit>& digits : part.digits) {
      for (size_t i = 0; i < digits.size(); ++i) {
        strides.push_back(digits[i].stride);
        const bool is_last = i + 1 == digits.size();
        if (!is_last && digits[i].coefficient < digits[i + 1].coefficient * digits[i + 1].extent) {
          return false;
        }
      }
    }
    return std::ranges::all_of(threads_->loops, [&](const ThreadLoops::Loop& loop) {
      return loop.extent <= 1 || std::ranges::count(strides, loop.stride) == 1;
    });
  }

  void Refuse(const loop::BufferNode& buffer, const std::vector<Expr>& indices, const char* why) {
    if (!status_.ok()) return;
    std::string text;
    for (const Expr& index : indices) text += (text.empty() ? "" : ", ") + loop::ToText(index);
    status_ = absl::InvalidArgumentError(
        fmt::format("expected a part of buffer '{}' for each thread, found %{}[{}], {}",
                    buffer.name, buffer.name, text, why));
  }

  absl::Status status_;
  loop::Bounds bounds_;
  std::optional<ThreadLoops> threads_;  // around the statement; none between thread loops
  absl::flat_hash_map<const loop::BufferNode*, Split> splits_;
};

}  // namespace

absl::StatusOr<Stmt> SplitAmongThreads(const Stmt& body) { return Splitter().Run(body); }

}  // namespace hone::lower
