#include "compiler/loop/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "compiler/loop/bounds.h"
#include "compiler/loop/launch_summary.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"

namespace hone::loop {
namespace {

constexpr int kLevels = 8;   // innermost loops around the main store
constexpr int kBuffers = 5;  // of the main launch, by footprint
constexpr double kLineBytes = 64;
// Rough per-core figures; only the order of candidates depends on them.
constexpr double kHertz = 3.5e9;
constexpr double kBytesPerCycleBeyond[3] = {32, 12, 6};  // out of L2, L3, DRAM
constexpr double kLaunchSeconds = 0.5e-6;

double Log(double x) { return std::log2(1 + std::max(x, 0.0)); }
double LogRatio(double a, double b) {
  return std::clamp(std::log2(std::max(a, 1e-9) / std::max(b, 1e-9)), -30.0, 30.0);
}

// Bytes in memory of a box, whole cache lines where rows are short.
double BoxBytes(const BufferNode& buffer, const std::vector<double>& extents) {
  double elements = 1;
  for (double extent : extents) elements *= extent;
  const double element = SizeBytes(buffer.dtype);
  double run = element;  // bytes that lie next to each other
  const auto& dims = buffer.layout.dims();
  if (!dims.empty()) {
    const double inner = extents[static_cast<size_t>(dims.back().axis)];
    const double limit = dims.back().factor > 0 ? static_cast<double>(dims.back().factor) : inner;
    run *= std::min(inner, limit);
  }
  const double rows = elements * element / run;
  return rows * std::max(run, std::min(kLineBytes, elements * element * 16));
}

// The loops around the main store and what is touched below each.
struct Chain {
  std::vector<int> path;                // outermost first
  std::vector<double> footprint_bytes;  // [k]: of the k innermost loops; k = 0 .. path.size()
};

struct BufferUse {
  const BufferNode* buffer = nullptr;
  double count = 0;  // accesses
  double bytes = 0;  // touched in the launch
  bool read = false;
  bool written = false;
  std::vector<const AccessInfo*> accesses;
};

struct CacheUse {
  double level = 0;           // innermost loops whose footprint fits
  double work_inside = 0;     // iterations of those
  double footprint_over = 0;  // bytes of one loop more
  double traffic_bytes = 0;   // that come from beyond the cache
};

class LaunchAnalysis {
 public:
  LaunchAnalysis(const Launch& launch, const Target& target)
      : target_(target), summary_(Summarise(launch)) {
    main_ = summary_.MainStore();
    if (main_ >= 0) chain_.path = summary_.stores[static_cast<size_t>(main_)].path;
    GatherBuffers();
    MeasureChain();
    const int64_t sizes[3] = {target.l1_bytes, target.l2_bytes, target.l3_bytes};
    for (size_t c = 0; c < 3; ++c) {
      caches_[c] = MeasureCache(static_cast<double>(std::max<int64_t>(sizes[c], 1024)));
    }
  }

  const LaunchSummary& summary() const { return summary_; }
  const Chain& chain() const { return chain_; }
  const std::vector<BufferUse>& buffers() const { return buffers_; }
  const CacheUse& cache(size_t c) const { return caches_[c]; }
  bool HasMain() const { return main_ >= 0; }
  const StoreInfo& Main() const { return summary_.stores[static_cast<size_t>(main_)]; }
  const LoopInfo& Loop(int position) const { return summary_.loops[static_cast<size_t>(position)]; }

  // The k innermost loops of the chain, and all loops below them.
  std::vector<bool> InnerLoops(size_t k) const {
    std::vector<bool> inner(summary_.loops.size(), false);
    if (k == 0) return inner;
    const int outermost = chain_.path[chain_.path.size() - k];
    for (const AccessInfo& access : summary_.accesses) {
      const auto from = std::find(access.path.begin(), access.path.end(), outermost);
      for (auto it = from; it != access.path.end(); ++it) inner[static_cast<size_t>(*it)] = true;
    }
    return inner;
  }

  double Footprint(const BufferUse& use, const std::vector<bool>& inner) const {
    std::vector<double> box(use.buffer->shape.size(), 1);
    for (const AccessInfo* access : use.accesses) {
      const std::vector<double> extents = TouchedExtents(summary_, *access, inner);
      for (size_t d = 0; d < box.size(); ++d) box[d] = std::max(box[d], extents[d]);
    }
    return BoxBytes(*use.buffer, box);
  }

  double Product(LoopKind kind) const {
    double product = 1;
    for (int position : chain_.path) {
      if (Loop(position).loop->loop_kind == kind) product *= Loop(position).extent;
    }
    return product;
  }

  // Vector registers that register buffers take where most is computed.
  double Registers() const { return HasMain() ? Main().register_bytes / target_.VectorBytes() : 0; }

  // Loads and stores of memory that are issued: what the unrolled loops inside do not move stays in
  // a register.
  double Issued(bool stores) const {
    double issued = 0;
    for (const BufferUse& use : buffers_) {
      for (const AccessInfo* access : use.accesses) {
        if (access->is_store == stores) issued += access->count / RegisterReuse(*access);
      }
    }
    return issued;
  }

  // By how much too few independent accumulators slow down: two pipes of four cycles want eight.
  // Sums in tile registers wait for nothing.
  double LatencyFactor() const {
    if (HasMain() && TileAround(Main().path) >= 0) return 1;
    return std::clamp(8 / std::max(Registers(), 1.0), 1.0, 4.0);
  }

  bool Spills() const { return Registers() + 3 > target_.VectorRegisters(); }

  double AnalyticSeconds() const {
    const double grid = std::max(summary_.GridSize(), 1.0);
    const double threads = std::max(1, target_.threads);
    const double speedup = grid / (std::ceil(grid / threads));  // rounds of work
    const double lanes =
        std::clamp(Product(LoopKind::kVectorize), 1.0, static_cast<double>(target_.VectorLanes()));
    OpCounts ops = summary_.totals;
    const double tiles = TakeTiles(&ops);
    const double arithmetic = (ops.fma + ops.add + ops.mul + ops.extremum) / 2 * LatencyFactor() +
                              ops.div * 4 + ops.special * 16 + (ops.compare + ops.integer) / 2;
    const double moves = Issued(false) / 2 + Issued(true);
    const double issue = std::max(arithmetic, moves) + 0.25 * std::min(arithmetic, moves);
    const double cycles = issue / lanes * (Spills() ? 2.0 : 1.0) + tiles;
    double memory = 0;
    for (size_t c = 0; c < 3; ++c) {
      memory = std::max(memory, caches_[c].traffic_bytes / kBytesPerCycleBeyond[c]);
    }
    const double slower = std::max(cycles, memory) + 0.25 * std::min(cycles, memory);
    return slower / kHertz / std::min(speedup, threads) + kLaunchSeconds;
  }

 private:
  // Where in the path the loop of a tile is; -1: nowhere.
  int TileAround(const std::vector<int>& path) const {
    for (size_t i = 0; i < path.size(); ++i) {
      if (Loop(path[i]).loop->loop_kind == LoopKind::kTile) return static_cast<int>(i);
    }
    return -1;
  }

  // Executions of the loops from the place in the path on.
  double Executions(const std::vector<int>& path, int from) const {
    double executions = 1;
    for (size_t i = static_cast<size_t>(from); i < path.size(); ++i) {
      executions *= Loop(path[i]).extent;
    }
    return executions;
  }

  // Cycles of the products of tiles, whose operations are taken out of `ops`: a row a cycle, and no
  // fewer than nine.
  double TakeTiles(OpCounts* ops) const {
    constexpr double kFewestRows = 9;
    double cycles = 0;
    for (const StoreInfo& store : summary_.stores) {
      const int tile = TileAround(store.path);
      if (tile < 0) continue;
      ops->AddScaled(store.ops, -store.trips);
      const double rows = Loop(store.path[static_cast<size_t>(tile)]).extent;
      cycles += store.trips / Executions(store.path, tile) * std::max(rows, kFewestRows);
    }
    return cycles;
  }

  // Of a tile whole rows are read: those of the left factor for its rows, of the right one for its
  // steps.
  double TileReuse(const AccessInfo& access, int tile) const {
    double lines = 1, lanes = 1;
    for (size_t i = static_cast<size_t>(tile); i < access.path.size(); ++i) {
      const LoopInfo& loop = Loop(access.path[i]);
      const bool row = static_cast<int>(i) == tile;
      const bool left = DependsOn(summary_, access, access.path[static_cast<size_t>(tile)]);
      if (row ? left : (!left && loop.loop->loop_kind == LoopKind::kSerial)) lines = loop.extent;
      if (loop.loop->loop_kind == LoopKind::kVectorize) lanes = loop.extent;
    }
    return Executions(access.path, tile) / lines / lanes;
  }

  double RegisterReuse(const AccessInfo& access) const {
    double reuse = 1;
    size_t end = access.path.size();
    if (const int tile = TileAround(access.path); tile >= 0) {
      reuse = TileReuse(access, tile);
      end = static_cast<size_t>(tile);
    }
    for (size_t i = end; i-- > 0;) {
      const LoopInfo& loop = Loop(access.path[i]);
      const LoopKind kind = loop.loop->loop_kind;
      if (kind != LoopKind::kUnroll && kind != LoopKind::kVectorize && kind != LoopKind::kDot)
        break;
      if (kind == LoopKind::kUnroll && !DependsOn(summary_, access, access.path[i])) {
        reuse *= loop.extent;
      }
    }
    return reuse;
  }

  void GatherBuffers() {
    std::map<const BufferNode*, size_t> places;  // only looked up, never walked
    for (const AccessInfo& access : summary_.accesses) {
      if (access.buffer->scope == Scope::kRegister || access.buffer->scope == Scope::kTile)
        continue;
      const auto [it, inserted] = places.try_emplace(access.buffer, buffers_.size());
      if (inserted) buffers_.push_back({access.buffer, 0, 0, false, false, {}});
      BufferUse& use = buffers_[it->second];
      use.count += access.count;
      (access.is_store ? use.written : use.read) = true;
      use.accesses.push_back(&access);
    }
    const std::vector<bool> all(summary_.loops.size(), true);
    for (BufferUse& use : buffers_) use.bytes = Footprint(use, all);
    std::stable_sort(buffers_.begin(), buffers_.end(),
                     [](const BufferUse& a, const BufferUse& b) { return a.bytes > b.bytes; });
  }

  void MeasureChain() {
    for (size_t k = 0; k <= chain_.path.size(); ++k) {
      const std::vector<bool> inner = InnerLoops(k);
      double bytes = 0;
      for (const BufferUse& use : buffers_) bytes += Footprint(use, inner);
      chain_.footprint_bytes.push_back(bytes);
    }
  }

  CacheUse MeasureCache(double size) const {
    CacheUse use;
    const size_t depth = chain_.path.size();
    size_t k = 0;
    while (k < depth && chain_.footprint_bytes[k + 1] <= size) ++k;
    use.level = static_cast<double>(k);
    use.work_inside = 1;
    for (size_t i = depth - k; i < depth; ++i) use.work_inside *= Loop(chain_.path[i]).extent;
    use.footprint_over = chain_.footprint_bytes[std::min(k + 1, depth)];
    const std::vector<bool> inner = InnerLoops(k);
    for (const BufferUse& buffer : buffers_) {
      double bytes = Footprint(buffer, inner);
      bool reused = true;  // stays while the next loops outwards do not move it
      for (size_t i = depth - k; i-- > 0;) {
        const bool moves = std::any_of(
            buffer.accesses.begin(), buffer.accesses.end(),
            [&](const AccessInfo* access) { return DependsOn(summary_, *access, chain_.path[i]); });
        reused = reused && !moves;
        if (!reused) bytes *= Loop(chain_.path[i]).extent;
      }
      use.traffic_bytes += bytes;
    }
    return use;
  }

  const Target& target_;
  LaunchSummary summary_;
  int main_ = -1;
  Chain chain_;
  std::vector<BufferUse> buffers_;
  std::array<CacheUse, 3> caches_;
};

// Collects values and, where they are asked for, their names.
class Writer {
 public:
  explicit Writer(std::vector<std::string>* names) : names_(names) {}

  void Add(std::string_view prefix, std::string_view name, double value) {
    values.push_back(std::isfinite(value) ? static_cast<float>(value) : 0.0f);
    if (names_ != nullptr) names_->push_back(std::string(prefix) + std::string(name));
  }
  void Add(std::string_view name, double value) { Add("", name, value); }

  std::vector<float> values;

 private:
  std::vector<std::string>* const names_;
};

void WriteOps(Writer& out, std::string_view prefix, const OpCounts& ops) {
  out.Add(prefix, "fma", Log(ops.fma));
  out.Add(prefix, "add", Log(ops.add));
  out.Add(prefix, "mul", Log(ops.mul));
  out.Add(prefix, "div", Log(ops.div));
  out.Add(prefix, "special", Log(ops.special));
  out.Add(prefix, "extremum", Log(ops.extremum));
  out.Add(prefix, "compare", Log(ops.compare));
  out.Add(prefix, "integer", Log(ops.integer));
  out.Add(prefix, "loads", Log(ops.loads));
  out.Add(prefix, "stores", Log(ops.stores));
}

void WriteNest(Writer& out, const Nest& nest, const std::vector<LaunchAnalysis>& launches) {
  OpCounts totals;
  double loops = 0, stores = 0, conditions = 0, prefetches = 0, grid = 0;
  for (const LaunchAnalysis& launch : launches) {
    totals.AddScaled(launch.summary().totals, 1);
    loops += static_cast<double>(launch.summary().loops.size());
    stores += static_cast<double>(launch.summary().stores.size());
    conditions += launch.summary().conditions;
    prefetches += launch.summary().prefetches;
    grid += launch.summary().GridSize();
  }
  out.Add("nest.launches", static_cast<double>(launches.size()));
  out.Add("nest.loop_statements", loops);
  out.Add("nest.store_statements", stores);
  out.Add("nest.conditions", conditions);
  out.Add("nest.prefetches", prefetches);
  out.Add("nest.grid", Log(grid));
  out.Add("nest.flops", Log(totals.Flops()));
  const char* names[] = {"input_bytes", "constant_bytes", "prepared_bytes", "workspace_bytes",
                         "output_bytes"};
  double bytes[5] = {};
  for (const Buffer& buffer : nest.buffers) {
    bytes[static_cast<int>(buffer->role)] += static_cast<double>(buffer->SizeBytes());
  }
  for (int role = 0; role < 5; ++role) {
    out.Add("nest.", names[role], Log(bytes[role]));
  }
  WriteOps(out, "nest.", totals);
}

void WriteTarget(Writer& out, const Target& target) {
  out.Add("target.lanes", target.VectorLanes());
  out.Add("target.registers", target.VectorRegisters());
  out.Add("target.threads", target.threads);
  out.Add("target.l1", Log(static_cast<double>(target.l1_bytes)));
  out.Add("target.l2", Log(static_cast<double>(target.l2_bytes)));
  out.Add("target.l3", Log(static_cast<double>(target.l3_bytes)));
}

void WriteParallel(Writer& out, const LaunchAnalysis* main, const Target& target) {
  const double grid = main != nullptr ? main->summary().GridSize() : 1;
  const double threads = std::max(1, target.threads);
  const double vector = main != nullptr ? main->Product(LoopKind::kVectorize) : 1;
  const double unroll = main != nullptr ? main->Product(LoopKind::kUnroll) : 1;
  const double registers = main != nullptr ? main->Registers() : 0;
  out.Add("main.grid", Log(grid));
  out.Add("main.grid_per_thread", LogRatio(grid, threads));
  out.Add("main.imbalance", std::ceil(grid / threads) * threads / grid);
  out.Add("main.vector", vector);
  out.Add("main.vector_per_lanes", LogRatio(vector, target.VectorLanes()));
  out.Add("main.vector_tail", std::fmod(vector, target.VectorLanes()));
  out.Add("main.unroll", Log(unroll));
  out.Add("main.emitted", Log(unroll * std::max(1.0, vector / target.VectorLanes())));
  out.Add("main.registers", registers);
  out.Add("main.register_share", registers / target.VectorRegisters());
  out.Add("main.spills", main != nullptr && main->Spills() ? 1 : 0);
  out.Add("main.latency", main != nullptr ? main->LatencyFactor() : 1);
  const double loads = main != nullptr ? main->Issued(false) : 0;
  const double flops = main != nullptr ? main->summary().totals.Flops() : 0;
  out.Add("main.issued_loads", Log(loads));
  out.Add("main.issued_stores", main != nullptr ? Log(main->Issued(true)) : 0);
  out.Add("main.flops_per_load", LogRatio(flops + 1, loads + 1));
}

void WriteLevels(Writer& out, const LaunchAnalysis* main) {
  const size_t depth = main != nullptr ? main->chain().path.size() : 0;
  out.Add("main.depth", static_cast<double>(depth));
  for (size_t k = 0; k < kLevels; ++k) {
    const std::string prefix = "level" + std::to_string(k) + ".";
    const LoopInfo* loop = k < depth ? &main->Loop(main->chain().path[depth - 1 - k]) : nullptr;
    out.Add(prefix, "extent", loop != nullptr ? Log(loop->extent) : 0);
    out.Add(prefix, "kind", loop != nullptr ? static_cast<double>(loop->loop->loop_kind) : -1);
    out.Add(prefix, "footprint",
            main != nullptr ? Log(main->chain().footprint_bytes[std::min(k + 1, depth)]) : 0);
  }
}

void WriteCaches(Writer& out, const LaunchAnalysis* main, const Target& target) {
  const int64_t sizes[3] = {target.l1_bytes, target.l2_bytes, target.l3_bytes};
  const double flops = main != nullptr ? main->summary().totals.Flops() : 0;
  for (size_t c = 0; c < 3; ++c) {
    const std::string prefix = "l" + std::to_string(c + 1) + ".";
    const CacheUse use = main != nullptr ? main->cache(c) : CacheUse{};
    const double size = static_cast<double>(std::max<int64_t>(sizes[c], 1024));
    out.Add(prefix, "fitting_loops", use.level);
    out.Add(prefix, "work_inside", Log(use.work_inside));
    out.Add(prefix, "over", LogRatio(use.footprint_over, size));
    out.Add(prefix, "traffic", Log(use.traffic_bytes));
    out.Add(prefix, "intensity", LogRatio(flops, use.traffic_bytes));
  }
}

// The stride in memory, in elements, of the innermost loop that moves the access; and whether the
// vector loop does.
struct Movement {
  double stride = 0;
  double vector_stride = 0;
  double reuse = 1;  // iterations of inner loops that do not move it
  double reuse_bytes = 0;
};

Movement MeasureMovement(const LaunchAnalysis& main, const BufferUse& use) {
  Movement movement;
  const LaunchSummary& summary = main.summary();
  const AccessInfo* access = use.accesses[0];
  for (const AccessInfo* other : use.accesses) {
    if (other->count > access->count) access = other;
  }
  Bounds bounds;
  std::vector<Expr> indices;
  for (int position : access->path) {
    bounds.PushLoop(*main.Loop(position).loop);
  }
  for (const Linear& index : access->indices) indices.push_back(index.ToExpr());
  const Linear offset = Linear::Of(PhysicalOffset(*use.buffer, indices, bounds));
  bool found = false;
  for (size_t i = access->path.size(); i-- > 0;) {
    const LoopInfo& loop = main.Loop(access->path[i]);
    const double stride = std::abs(static_cast<double>(offset.CoefficientOf(loop.loop->var)));
    if (loop.loop->loop_kind == LoopKind::kVectorize) movement.vector_stride = stride;
    if (!found && DependsOn(summary, *access, access->path[i])) {
      movement.stride = stride;
      found = true;
    } else if (!found) {
      movement.reuse *= loop.extent;
    }
  }
  // What is touched between two uses of the same element: below the innermost loop that leaves it.
  const auto& path = main.chain().path;
  for (size_t k = 1; k <= path.size(); ++k) {
    if (DependsOn(summary, *access, path[path.size() - k])) continue;
    movement.reuse_bytes = main.chain().footprint_bytes[k - 1];
    break;
  }
  return movement;
}

void WriteBuffers(Writer& out, const LaunchAnalysis* main, const Target& target) {
  for (size_t b = 0; b < kBuffers; ++b) {
    const std::string prefix = "buffer" + std::to_string(b) + ".";
    const bool exists = main != nullptr && b < main->buffers().size();
    const BufferUse use = exists ? main->buffers()[b] : BufferUse{};
    const Movement movement = exists ? MeasureMovement(*main, use) : Movement{};
    const double element = exists ? SizeBytes(use.buffer->dtype) : 4;
    const bool fixed =
        exists && (use.buffer->role == Role::kConstant || use.buffer->role == Role::kPrepared);
    out.Add(prefix, "read", use.read ? 1 : 0);
    out.Add(prefix, "written", use.written ? 1 : 0);
    out.Add(prefix, "constant", fixed ? 1 : 0);
    out.Add(prefix, "bytes", Log(use.bytes));
    out.Add(prefix, "accesses", Log(use.count));
    out.Add(prefix, "reuse", exists ? LogRatio(use.count * element, use.bytes) : 0);
    out.Add(prefix, "stride", Log(movement.stride));
    out.Add(prefix, "vector_stride", Log(movement.vector_stride));
    out.Add(prefix, "inner_reuse", Log(movement.reuse));
    out.Add(prefix, "reuse_bytes", Log(movement.reuse_bytes));
    out.Add(prefix, "per_l1", LogRatio(use.bytes, static_cast<double>(target.l1_bytes)));
    out.Add(prefix, "per_l2", LogRatio(use.bytes, static_cast<double>(target.l2_bytes)));
    out.Add(prefix, "per_l3", LogRatio(use.bytes, static_cast<double>(target.l3_bytes)));
  }
}

// Gives the values, and their names unless null.
std::vector<float> Write(const Nest& nest, const Target& target, double* analytic_seconds,
                         std::vector<std::string>* names = nullptr) {
  std::vector<LaunchAnalysis> launches;
  for (const Launch& launch : nest.launches) {
    if (launch.phase == Phase::kRun) launches.emplace_back(launch, target);
  }
  const LaunchAnalysis* main = nullptr;
  double most = -1;
  *analytic_seconds = 0;
  for (const LaunchAnalysis& launch : launches) {
    const double seconds = launch.AnalyticSeconds();
    *analytic_seconds += seconds;
    if (!launch.HasMain() || seconds <= most) continue;
    most = seconds;
    main = &launch;
  }
  Writer out(names);
  WriteTarget(out, target);
  WriteNest(out, nest, launches);
  WriteOps(out, "main.", main != nullptr ? main->Main().ops : OpCounts());
  WriteParallel(out, main, target);
  WriteLevels(out, main);
  WriteCaches(out, main, target);
  WriteBuffers(out, main, target);
  out.Add("analytic", std::log2(*analytic_seconds + 1e-9));
  out.Add("main.share", *analytic_seconds > 0 ? std::max(most, 0.0) / *analytic_seconds : 0);
  return out.values;
}

}  // namespace

NestFeatures ExtractFeatures(const Nest& nest, const Target& target) {
  NestFeatures features;
  features.values = Write(nest, target, &features.analytic_seconds);
  return features;
}

const std::vector<std::string>& FeatureNames() {
  static const auto* names = [] {
    double unused = 0;
    auto* written = new std::vector<std::string>();
    Write(Nest{}, Target{}, &unused, written);
    return written;
  }();
  return *names;
}

}  // namespace hone::loop
