#include "compiler/lower/warpgroups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/loop/scalar.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"
#include "compiler/lower/block_access.h"
#include "compiler/lower/swizzles.h"
#include "compiler/machine/tensor_cores.h"

namespace hone::lower {
namespace {

using loop::Bounds;
using loop::Expr;
using loop::Linear;
using loop::Stmt;
using loop::StmtKind;
using loop::TileOperation;
using machine::kWarpgroupProduct;
using machine::kWarpProduct;

constexpr int64_t kElementBytes = 2;  // of the operands
// Elements of the pattern of the swizzle, which begins again after eight rows.
constexpr int64_t kPatternElements = 8 * kWarpgroupProduct.row_terms;

// Whether the loop is unrolled and counts from zero, at least once.
bool IsUnrolledFromZero(const Stmt& s) {
  int64_t extent = 0;
  return s->kind == StmtKind::kFor && s->loop_kind == loop::LoopKind::kUnroll &&
         loop::IsZero(s->min) && loop::IsConstInt(s->extent, &extent) && extent > 0;
}

int64_t ExtentOf(const Stmt& unrolled) {
  int64_t extent = 0;
  loop::IsConstInt(unrolled->extent, &extent);
  return extent;
}

// The statements that an iteration does one after the other.
void AppendSteps(const Stmt& s, std::vector<Stmt>* steps) {
  if (s->kind != StmtKind::kSeq) return steps->push_back(s);
  for (const Stmt& child : s->body) AppendSteps(child, steps);
}

bool Touches(const Stmt& s, const loop::Buffer& buffer) {
  bool touches = false;
  loop::Walk(
      s,
      [&](const Stmt& inside) {
        touches = touches || (inside->kind == StmtKind::kStore && inside->buffer == buffer);
        return true;
      },
      [&](const Expr& e) {
        touches = touches || (e->kind == loop::ExprKind::kLoad && e->buffer == buffer);
      });
  return touches;
}

// Whether all that is stored to the buffer of `read` goes to slots that are not read by a product
// which was begun in this iteration of the loop or in the one before it.
bool SparesSlots(const Stmt& s, const loop::StmtNode& steps, const Expr& read) {
  const loop::BufferNode& buffer = *read->buffer;
  const std::optional<Slot> slot = SlotOf(buffer, read->operands);
  if (!slot || slot->var != steps.var.get()) return false;
  const int64_t of_last = loop::FloorModInt(slot->offset - 1, buffer.shape[0]);
  bool spares = true;
  loop::Walk(s, [&](const Stmt& inside) {
    if (inside->kind != StmtKind::kStore || inside->buffer != read->buffer) return true;
    const std::optional<Slot> stored = SlotOf(buffer, inside->indices);
    spares = spares && stored && stored->var == slot->var && stored->offset != slot->offset &&
             stored->offset != of_last;
    return true;
  });
  return spares;
}

class WarpgroupPlanner {
 public:
  WarpgroupPlanner(const WarpPlan& warps, Expr thread)
      : warps_(warps), thread_(std::move(thread)) {}

  WarpgroupPlan Run(const Stmt& body, int64_t threads, const Bounds& bounds) && {
    Visit(body, threads, bounds);
    DropUnfitSwizzles(body, bounds);
    FindLate(body);
    return std::move(plan_);
  }

 private:
  // The first `threads` threads of the block are at `s`.
  void Visit(const Stmt& s, int64_t threads, const Bounds& bounds) {
    if (threads % kWarpgroupProduct.threads != 0) return;
    if (IsUnrolledFromZero(s) || warps_.operations.contains(s.get())) {
      if (std::optional<WarpgroupProduct> product = ProductAt(s, threads, bounds)) {
        plan_.products[s.get()] = *std::move(product);
        return;
      }
    }
    if (s->kind == StmtKind::kFor &&
        (loop::UsesVar(s->min, thread_) || loop::UsesVar(s->extent, thread_))) {
      return;
    }
    const bool is_of_threads = s->kind == StmtKind::kIf && loop::UsesVar(s->condition, thread_);
    for (size_t i = 0; i < s->body.size(); ++i) {
      Bounds inner = bounds;
      if (s->kind == StmtKind::kFor) inner.PushLoop(*s);
      if (s->kind == StmtKind::kIf) inner.Assume(s->condition, i == 0);
      const int64_t inside = !is_of_threads ? threads : i == 0 ? ThreadsBelow(s->condition) : 1;
      Visit(s->body[i], inside, inner);
    }
  }

  // Leaves single warps the products whose operands have accesses that swizzles do not serve, until
  // all others' operands have none.
  void DropUnfitSwizzles(const Stmt& body, const Bounds& bounds) {
    const auto is_product = [&](const Stmt& s) { return plan_.products.contains(s.get()); };
    const auto is_of_warps = [&](const Stmt& s) { return warps_.operations.contains(s.get()); };
    size_t dropped = 1;
    while (dropped > 0 && !plan_.products.empty()) {
      const loop::BufferSet unfit =
          BuffersAccessedAcrossChunks(body, bounds, is_product, is_of_warps);
      dropped = absl::erase_if(plan_.products, [&](const auto& entry) {
        const TileOperation& tile = entry.second.tile;
        return unfit.contains(tile.left.load->buffer.get()) ||
               unfit.contains(tile.right.load->buffer.get());
      });
    }
    for (const auto& [s, product] : plan_.products) {
      plan_.swizzled.insert(product.tile.left.load->buffer.get());
      plan_.swizzled.insert(product.tile.right.load->buffer.get());
    }
  }

  // Marks products that are waited for one iteration later.
  void FindLate(const Stmt& s) {
    if (s->kind == StmtKind::kFor && s->loop_kind == loop::LoopKind::kSerial) {
      if (const loop::StmtNode* const product = LateIn(*s)) {
        plan_.products.at(product).is_late = true;
        plan_.late[s.get()] = product;
        return;
      }
    }
    for (const Stmt& child : s->body) FindLate(child);
  }

  // The one product of the loop that may be; null where there is none.
  const loop::StmtNode* LateIn(const loop::StmtNode& loop) const {
    std::vector<Stmt> steps;
    AppendSteps(loop.body[0], &steps);
    const auto is_product = [&](const Stmt& s) { return plan_.products.contains(s.get()); };
    const auto found = std::ranges::find_if(steps, is_product);
    if (found == steps.end() || std::ranges::count_if(steps, is_product) > 1) return nullptr;
    const WarpgroupProduct& product = plan_.products.at(found->get());
    if (MovesSums(product.tile, loop.var)) return nullptr;
    bool is_behind_barrier = false;
    for (const Stmt& s : steps) {
      if (s == *found) continue;
      if (Touches(s, product.tile.sums)) return nullptr;
      for (const Expr& factor : {product.tile.left.load, product.tile.right.load}) {
        if (!SparesSlots(s, loop, factor)) return nullptr;
        if (!is_behind_barrier && Touches(s, factor->buffer)) return nullptr;
      }
      is_behind_barrier = is_behind_barrier || s->kind == StmtKind::kBarrier;
    }
    return is_behind_barrier ? found->get() : nullptr;
  }

  // How many threads a condition on their number lets pass, the first ones; 1 where it is another.
  int64_t ThreadsBelow(const Expr& condition) const {
    int64_t count = 1;
    const bool is_below =
        condition->kind == loop::ExprKind::kBinary && condition->binary_op == loop::BinaryOp::kLt &&
        condition->operands[0].SameAs(thread_) && loop::IsConstInt(condition->operands[1], &count);
    return is_below ? count : 1;
  }

  std::optional<WarpgroupProduct> ProductAt(const Stmt& s, int64_t threads,
                                            const Bounds& outside) const {
    WarpgroupProduct product;
    Bounds bounds = outside;
    Stmt inside = s;
    for (; IsUnrolledFromZero(inside); inside = Stmt(inside->body[0])) {
      bounds.PushLoop(*inside);
      product.parts.push_back(inside);
    }
    const auto operation = warps_.operations.find(inside.get());
    if (operation == warps_.operations.end()) return std::nullopt;
    product.tile = operation->second;
    const TileOperation& tile = product.tile;
    if (tile.kind != TileOperation::Kind::kMultiply || !tile.right_has_lanes ||
        SizeBytes(tile.left.load->dtype) != kElementBytes) {
      return std::nullopt;
    }
    for (Stmt loop = inside; loop->kind == StmtKind::kFor; loop = Stmt(loop->body[0])) {
      bounds.PushLoop(*loop);
    }
    product.lanes = tile.lanes;
    if (!product.parts.empty() && MovesSums(tile, product.parts.back()->var)) {
      product.tiles = product.parts.back();
      product.parts.pop_back();
      product.lanes *= ExtentOf(product.tiles);
    }
    const auto moves_sums = [&](const Stmt& part) { return MovesSums(tile, part->var); };
    if (std::ranges::any_of(product.parts, moves_sums) ||
        product.lanes > kWarpgroupProduct.most_lanes) {
      return std::nullopt;
    }
    const bool is_one = AreLanesInOrder(product, bounds) &&
                        IsMatrix(product, tile.left, threads, kWarpProduct.rows, bounds) &&
                        IsMatrix(product, tile.right, threads, 0, bounds);
    if (!is_one) return std::nullopt;
    return product;
  }

  static bool MovesSums(const TileOperation& tile, const Expr& var) {
    return std::ranges::any_of(tile.indices,
                               [&](const Expr& index) { return loop::UsesVar(index, var); });
  }

  // Whether the tiles go along the lanes of the sums, one behind the other.
  bool AreLanesInOrder(const WarpgroupProduct& product, const Bounds& bounds) const {
    if (product.tiles == nullptr) return true;
    const Expr& lane = product.tile.variables[2];
    for (const Expr& index : product.tile.indices) {
      if (!loop::UsesVar(index, product.tiles->var)) continue;
      const Linear form = loop::LinearForm(index, bounds);
      if (form.CoefficientOf(lane) != 1 ||
          form.CoefficientOf(product.tiles->var) != product.tile.lanes) {
        return false;
      }
    }
    return true;
  }

  // Whether the rows of the operand of all tiles are those of a swizzled matrix, in which each warp
  // of a group begins `warp_rows` after the one before it.
  bool IsMatrix(const WarpgroupProduct& product, const loop::TileOperand& operand, int64_t threads,
                int64_t warp_rows, const Bounds& bounds) const {
    constexpr int64_t kRow = kWarpgroupProduct.row_terms;
    const loop::BufferNode& buffer = *operand.load->buffer;
    if (buffer.scope != loop::Scope::kShared || operand.stride != kRow ||
        buffer.layout.PhysicalShape(buffer.shape).back() != kRow) {
      return false;
    }
    const TileOperation& tile = product.tile;
    Linear first =
        loop::LinearForm(loop::PhysicalOffset(buffer, operand.load->operands, bounds), bounds);
    int64_t last_term = tile.steps * tile.dot - 1;
    const auto take = [&](const Expr& var) {
      const int64_t coefficient = first.CoefficientOf(var);
      first.AddTerm(var, -coefficient);
      return coefficient;
    };
    for (const Expr& var : tile.variables) take(var);
    for (const Stmt& part : product.parts) {
      const int64_t terms = take(part->var);
      if (terms < 0 || terms % kWarpProduct.terms != 0) return false;
      last_term += terms * (ExtentOf(part) - 1);
    }
    if (product.tiles != nullptr) {
      const int64_t moved = take(product.tiles->var);
      if (moved != (warp_rows > 0 ? 0 : tile.lanes * kRow)) return false;
    }
    const Expr rest = first.ToExpr();
    if (product.tiles != nullptr && loop::UsesVar(rest, product.tiles->var)) return false;
    for (int64_t group = 0; group < threads; group += kWarpgroupProduct.threads) {
      const Linear begin = OfThread(rest, group, bounds);
      const int64_t term = begin.constant() % kPatternElements;
      if (term < 0 || term % kWarpProduct.terms != 0 || term + last_term >= kRow ||
          !std::ranges::all_of(
              begin.terms(),
              [](const Linear::Term& moved) {
                return moved.coefficient % kPatternElements == 0;
              })) {
        return false;
      }
      for (int64_t warp = 1; warp * kWarpProduct.threads < kWarpgroupProduct.threads; ++warp) {
        Linear distance = OfThread(rest, group + warp * kWarpProduct.threads, bounds);
        distance.Add(begin, -1);
        if (!distance.IsConstant() || distance.constant() != warp * warp_rows * kRow) return false;
      }
    }
    return true;
  }

  Linear OfThread(const Expr& e, int64_t thread, const Bounds& bounds) const {
    return loop::LinearForm(loop::Substitute(e, {{thread_.get(), Expr(thread)}}), bounds);
  }

  const WarpPlan& warps_;
  const Expr thread_;
  WarpgroupPlan plan_;
};

}  // namespace

WarpgroupPlan PlanWarpgroups(const Stmt& body, const WarpPlan& warps, const Expr& thread,
                             int64_t threads, const Bounds& bounds) {
  return WarpgroupPlanner(warps, thread).Run(body, threads, bounds);
}

}  // namespace hone::lower
