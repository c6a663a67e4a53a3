#include "compiler/lower/tile_plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/loop/visit.h"

namespace hone::lower {
namespace {

using loop::Bounds;
using loop::LoopKind;
using loop::Stmt;
using loop::StmtKind;
using loop::TileOperation;
using machine::kAmxTile;

constexpr int kTileRegisters = kAmxTile.registers;

// Registers of a kind that a region cannot do without, and that it could use.
struct Demand {
  int least = 0;
  int most = 0;
};
using Demands = std::map<TileKind, Demand>;

struct RegionNeeds {
  Stmt alloc;
  std::map<int64_t, TileKind> sums;  // by the offset of the first element
  Demands factors;
  std::vector<std::pair<const loop::StmtNode*, TileOperation>> operations;

  Demands All() const {
    Demands all = factors;
    for (const auto& [offset, kind] : sums) {
      Demand& demand = all[kind];
      demand.least = ++demand.most;
    }
    return all;
  }
};

bool HasInstruction(const TileOperation& op, const machine::MatrixUnit& matrix) {
  if (op.lanes != kAmxTile.SumLanes()) return false;
  if (op.target_has_lanes) return false;
  if (op.kind != TileOperation::Kind::kMultiply) return matrix.takes_bfloat16 || matrix.takes_bytes;
  return !op.right_has_lanes && matrix.Takes(op.left.load->dtype);
}

// What a region needs, and whether all that is done with its sums can be done in registers.
class RegionScan {
 public:
  RegionScan(const Stmt& alloc, const machine::MatrixUnit& matrix) : matrix_(matrix) {
    needs_.alloc = alloc;
  }

  std::optional<RegionNeeds> Run(const Bounds& bounds) && {
    Visit(needs_.alloc->body[0], bounds);
    if (!fits_ || needs_.sums.empty() || !AreApart()) return std::nullopt;
    return std::move(needs_);
  }

 private:
  // Whether no two tiles have a row of the sums in common.
  bool AreApart() const {
    std::set<int64_t> rows;
    for (const auto& [first, kind] : needs_.sums) {
      for (int64_t i = 0; i < kind.rows; ++i) {
        const int64_t row = first + i * stride_;
        if (row % kAmxTile.SumLanes() != 0 || !rows.insert(row).second) return false;
      }
    }
    return true;
  }

  void Visit(const Stmt& s, const Bounds& bounds) {
    if (!fits_ || s == nullptr) return;
    loop::ForEachExpr(*s, [&](const loop::Expr& e) { fits_ = fits_ && !Loads(e); });
    if (s->kind == StmtKind::kStore && s->buffer == needs_.alloc->buffer) fits_ = false;
    if (s->kind == StmtKind::kFor) return VisitLoop(s, bounds);
    for (size_t i = 0; i < s->body.size(); ++i) {
      Bounds inner = bounds;
      if (s->kind == StmtKind::kIf) inner.Assume(s->condition, i == 0);
      Visit(s->body[i], inner);
    }
  }

  bool Loads(const loop::Expr& e) const {
    bool loads = false;
    loop::Walk(e, [&](const loop::Expr& x) {
      if (x->kind == loop::ExprKind::kLoad && x->buffer == needs_.alloc->buffer) loads = true;
    });
    return loads;
  }

  void VisitLoop(const Stmt& s, const Bounds& bounds) {
    if (s->loop_kind == LoopKind::kTile) {
      const std::optional<TileOperation> op = loop::MatchTile(s, bounds);
      if (op && op->sums == needs_.alloc->buffer) return Add(s, *op);
    }
    Bounds inner = bounds;
    inner.PushLoop(*s);
    int64_t extent = 0, min = 0;
    const bool unrolled = s->loop_kind == LoopKind::kUnroll && loop::IsConstInt(s->min, &min) &&
                          loop::IsConstInt(s->extent, &extent);
    const size_t outer = straight_;
    unrolled_.push_back({s->var, min, unrolled ? extent : 0});
    if (!unrolled) straight_ = unrolled_.size();
    Visit(s->body[0], inner);
    straight_ = outer;
    unrolled_.pop_back();
  }

  void Add(const Stmt& s, const TileOperation& op) {
    fits_ = HasInstruction(op, matrix_) && AddSums(op);
    if (!fits_) return;
    if (op.kind == TileOperation::Kind::kMultiply) {
      AddFactor(TileKind::OfLeft(op), op.left.load);
      AddFactor(TileKind::OfRight(op), op.right.load);
    }
    needs_.operations.emplace_back(s.get(), op);
  }

  // Every tile of sums that the unrolled loops around the operation reach.
  bool AddSums(const TileOperation& op) {
    if (stride_ == 0) stride_ = op.sums_stride;
    if (stride_ != op.sums_stride) return false;
    std::vector<int64_t> firsts = {op.first.constant()};
    for (const loop::Linear::Term& term : op.first.terms()) {
      const auto around = std::find_if(unrolled_.begin(), unrolled_.end(), [&](const Around& a) {
        return a.extent > 0 && a.var.SameAs(term.atom);
      });
      if (around == unrolled_.end()) return false;
      std::vector<int64_t> next;
      for (const int64_t first : firsts) {
        for (int64_t i = 0; i < around->extent; ++i) {
          next.push_back(first + (around->min + i) * term.coefficient);
        }
      }
      firsts = std::move(next);
      if (firsts.size() > kTileRegisters) return false;
    }
    for (const int64_t first : firsts) {
      const TileKind kind = TileKind::OfSums(op);
      if (needs_.sums.try_emplace(first, kind).first->second != kind) return false;
    }
    return true;
  }

  // As many as the unrolled loops around it reach before anything else is done.
  void AddFactor(const TileKind& kind, const loop::Expr& load) {
    int64_t tiles = 1;
    for (size_t i = straight_; i < unrolled_.size(); ++i) {
      if (loop::UsesVar(load, unrolled_[i].var)) tiles *= std::max<int64_t>(unrolled_[i].extent, 1);
    }
    Demand& demand = needs_.factors[kind];
    demand.least = 1;
    demand.most = std::max(demand.most, static_cast<int>(std::min<int64_t>(tiles, kTileRegisters)));
  }

  struct Around {
    loop::Expr var;
    int64_t min;
    int64_t extent;  // 0: not unrolled
  };

  const machine::MatrixUnit& matrix_;
  RegionNeeds needs_;
  std::vector<Around> unrolled_;  // loops within the region, outermost first
  size_t straight_ = 0;           // of these, the first inside of which all are unrolled
  int64_t stride_ = 0;            // of the rows of sums; 0: not met yet
  bool fits_ = true;
};

// The regions of a launch that could have registers.
class LaunchScan {
 public:
  explicit LaunchScan(const machine::MatrixUnit& matrix) : matrix_(matrix) {}

  void Visit(const Stmt& s, const Bounds& bounds) {
    if (s == nullptr) return;
    if (s->kind == StmtKind::kFor && s->loop_kind == LoopKind::kVectorize) return;
    if (s->kind == StmtKind::kAlloc && s->buffer->scope == loop::Scope::kTile) {
      // Sums within the life of others are ordinary ones.
      if (auto needs = RegionScan(s, matrix_).Run(bounds)) regions.push_back(*std::move(needs));
      return;
    }
    for (size_t i = 0; i < s->body.size(); ++i) {
      Bounds inner = bounds;
      if (s->kind == StmtKind::kFor) inner.PushLoop(*s);
      if (s->kind == StmtKind::kIf) inner.Assume(s->condition, i == 0);
      Visit(s->body[i], inner);
    }
  }

  std::vector<RegionNeeds> regions;

 private:
  const machine::MatrixUnit& matrix_;
};

// Registers of each kind, no more than there are; empty where they do not suffice.
std::map<TileKind, std::vector<int>> Distribute(const Demands& demands) {
  std::map<TileKind, int> counts;
  int used = 0;
  for (const auto& [kind, demand] : demands) used += counts[kind] = demand.least;
  if (used > kTileRegisters) return {};
  while (used < kTileRegisters) {
    const auto neediest =
        std::max_element(demands.begin(), demands.end(), [&](const auto& a, const auto& b) {
          return a.second.most - counts[a.first] < b.second.most - counts[b.first];
        });
    if (neediest->second.most <= counts[neediest->first]) break;
    ++counts[neediest->first];
    ++used;
  }
  std::map<TileKind, std::vector<int>> registers;
  int next = 0;
  for (const auto& [kind, count] : counts) {
    for (int i = 0; i < count; ++i) registers[kind].push_back(next++);
  }
  return registers;
}

TilePlan::Shapes ShapesOf(const std::map<TileKind, std::vector<int>>& registers) {
  constexpr size_t kRowBytes = 16, kRows = 48;  // where the registers' begin
  TilePlan::Shapes shapes{};
  shapes[0] = 1;  // the palette
  for (const auto& [kind, numbers] : registers) {
    for (const int number : numbers) {
      shapes[kRowBytes + 2 * static_cast<size_t>(number)] = static_cast<uint8_t>(kind.row_bytes);
      shapes[kRows + static_cast<size_t>(number)] = static_cast<uint8_t>(kind.rows);
    }
  }
  return shapes;
}

void Assign(const RegionNeeds& needs, const std::map<TileKind, std::vector<int>>& registers,
            TilePlan* plan) {
  TilePlan::Region region;
  std::map<TileKind, size_t> taken;
  for (const auto& [offset, kind] : needs.sums) {
    region.sums[offset] = registers.at(kind)[taken[kind]++];
  }
  for (const auto& [kind, demand] : needs.factors) region.factors[kind] = registers.at(kind);
  const TilePlan::Shapes shapes = ShapesOf(registers);
  const auto known = std::find(plan->shapes.begin(), plan->shapes.end(), shapes);
  region.shapes = static_cast<size_t>(known - plan->shapes.begin());
  if (known == plan->shapes.end()) plan->shapes.push_back(shapes);
  plan->regions[needs.alloc.get()] = std::move(region);
  for (const auto& [loop, op] : needs.operations) plan->operations[loop] = op;
}

}  // namespace

TileKind TileKind::OfSums(const TileOperation& op) {
  return {Use::kSum, op.rows, kAmxTile.row_bytes};
}

TileKind TileKind::OfLeft(const TileOperation& op) { return {Use::kLeft, op.rows, op.steps * 4}; }

TileKind TileKind::OfRight(const TileOperation& op) {
  return {Use::kRight, op.steps, kAmxTile.row_bytes};
}

TilePlan PlanTiles(const Stmt& launch, const machine::MatrixUnit& matrix) {
  TilePlan plan;
  if (!matrix.takes_bfloat16 && !matrix.takes_bytes) return plan;
  LaunchScan scan(matrix);
  scan.Visit(launch, Bounds());
  if (scan.regions.empty()) return plan;
  Demands all;
  for (const RegionNeeds& needs : scan.regions) {
    for (const auto& [kind, demand] : needs.All()) {
      all[kind].least = std::max(all[kind].least, demand.least);
      all[kind].most = std::max(all[kind].most, demand.most);
    }
  }
  const auto shared = Distribute(all);
  for (const RegionNeeds& needs : scan.regions) {
    const auto registers = shared.empty() ? Distribute(needs.All()) : shared;
    if (!registers.empty()) Assign(needs, registers, &plan);
  }
  return plan;
}

}  // namespace hone::lower
