#include "compiler/loop/launch_analysis.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace hone::loop {
namespace {

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
  return rows * std::max(run, std::min(double{machine::kLineBytes}, elements * element * 16));
}

}  // namespace

LaunchAnalysis::LaunchAnalysis(const Launch& launch, const CpuTarget& target)
    : machine_(machine::Machine::For(target)), summary_(Summarise(launch)) {
  main_ = summary_.MainStore();
  if (main_ >= 0) chain_.path = summary_.stores[static_cast<size_t>(main_)].path;
  GatherBuffers();
  MeasureChain();
  const machine::Memory& memory = machine_.memory;
  const machine::MemoryLevel* const levels[3] = {&memory.l1, &memory.l2, &memory.l3};
  for (size_t c = 0; c < 3; ++c) {
    caches_[c] = MeasureCache(static_cast<double>(std::max<int64_t>(levels[c]->size_bytes, 1024)));
  }
}

std::vector<bool> LaunchAnalysis::InnerLoops(size_t k) const {
  std::vector<bool> inner(summary_.loops.size(), false);
  if (k == 0) return inner;
  const int outermost = chain_.path[chain_.path.size() - k];
  for (const AccessInfo& access : summary_.accesses) {
    const auto from = std::find(access.path.begin(), access.path.end(), outermost);
    for (auto it = from; it != access.path.end(); ++it) inner[static_cast<size_t>(*it)] = true;
  }
  return inner;
}

double LaunchAnalysis::Footprint(const BufferUse& use, const std::vector<bool>& inner) const {
  std::vector<double> box(use.buffer->shape.size(), 1);
  for (const AccessInfo* access : use.accesses) {
    const std::vector<double> extents = TouchedExtents(summary_, *access, inner);
    for (size_t d = 0; d < box.size(); ++d) box[d] = std::max(box[d], extents[d]);
  }
  return BoxBytes(*use.buffer, box);
}

double LaunchAnalysis::Product(LoopKind kind) const {
  double product = 1;
  for (int position : chain_.path) {
    if (Loop(position).loop->loop_kind == kind) product *= Loop(position).extent;
  }
  return product;
}

double LaunchAnalysis::Issued(bool stores) const {
  double issued = 0;
  for (const BufferUse& use : buffers_) {
    for (const AccessInfo* access : use.accesses) {
      if (access->is_store == stores) issued += access->count / RegisterReuse(*access);
    }
  }
  return issued;
}

double LaunchAnalysis::LatencyFactor() const {
  if (HasMain() && TileAround(Main().path) >= 0) return 1;
  return std::clamp(8 / std::max(Registers(), 1.0), 1.0, 4.0);
}

double LaunchAnalysis::AnalyticSeconds() const {
  const double grid = std::max(summary_.GridSize(), 1.0);
  const auto threads = static_cast<double>(std::max<int64_t>(1, machine_.Threads()));
  const double speedup = grid / (std::ceil(grid / threads));  // rounds of work
  const double lanes = std::clamp(Product(LoopKind::kVectorize), 1.0,
                                  static_cast<double>(machine_.vector.FloatLanes()));
  OpCounts ops = summary_.totals;
  const double tiles = TakeTiles(&ops);
  const double arithmetic = (ops.fma + ops.add + ops.mul + ops.extremum) /
                                machine_.issue.multiply_adds_a_cycle * LatencyFactor() +
                            ops.div * 4 + ops.special * 16 + (ops.compare + ops.integer) / 2;
  const double moves =
      Issued(false) / machine_.issue.loads_a_cycle + Issued(true) / machine_.issue.stores_a_cycle;
  const double issue = std::max(arithmetic, moves) + 0.25 * std::min(arithmetic, moves);
  const double cycles = issue / lanes * (Spills() ? 2.0 : 1.0) + tiles;
  const machine::Memory& levels = machine_.memory;
  const machine::MemoryLevel* const beyond[3] = {&levels.l2, &levels.l3, &levels.dram};
  double memory = 0;
  for (size_t c = 0; c < 3; ++c) {
    memory = std::max(memory, caches_[c].traffic_bytes / beyond[c]->read_bytes_a_cycle);
  }
  const double slower = std::max(cycles, memory) + 0.25 * std::min(cycles, memory);
  return slower / machine_.ClockHertz() / std::min(speedup, threads) +
         machine_.launch.features_seconds;
}

int LaunchAnalysis::TileAround(const std::vector<int>& path) const {
  for (size_t i = 0; i < path.size(); ++i) {
    if (Loop(path[i]).loop->loop_kind == LoopKind::kTile) return static_cast<int>(i);
  }
  return -1;
}

double LaunchAnalysis::Executions(const std::vector<int>& path, int from) const {
  double executions = 1;
  for (size_t i = static_cast<size_t>(from); i < path.size(); ++i) {
    executions *= Loop(path[i]).extent;
  }
  return executions;
}

double LaunchAnalysis::TakeTiles(OpCounts* ops) const {
  double cycles = 0;
  for (const StoreInfo& store : summary_.stores) {
    const int tile = TileAround(store.path);
    if (tile < 0) continue;
    ops->AddScaled(store.ops, -store.trips);
    const double rows = Loop(store.path[static_cast<size_t>(tile)]).extent;
    cycles += store.trips / Executions(store.path, tile) *
              std::max(rows, machine::kAmxTile.fewest_product_rows);
  }
  return cycles;
}

double LaunchAnalysis::TileReuse(const AccessInfo& access, int tile) const {
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

double LaunchAnalysis::RegisterReuse(const AccessInfo& access) const {
  double reuse = 1;
  size_t end = access.path.size();
  if (const int tile = TileAround(access.path); tile >= 0) {
    reuse = TileReuse(access, tile);
    end = static_cast<size_t>(tile);
  }
  for (size_t i = end; i-- > 0;) {
    const LoopInfo& loop = Loop(access.path[i]);
    const LoopKind kind = loop.loop->loop_kind;
    if (kind != LoopKind::kUnroll && kind != LoopKind::kVectorize && kind != LoopKind::kDot) break;
    if (kind == LoopKind::kUnroll && !DependsOn(summary_, access, access.path[i])) {
      reuse *= loop.extent;
    }
  }
  return reuse;
}

void LaunchAnalysis::GatherBuffers() {
  std::map<const BufferNode*, size_t> places;  // only looked up, never walked
  for (const AccessInfo& access : summary_.accesses) {
    if (access.buffer->scope == Scope::kRegister || access.buffer->scope == Scope::kTile) continue;
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

void LaunchAnalysis::MeasureChain() {
  for (size_t k = 0; k <= chain_.path.size(); ++k) {
    const std::vector<bool> inner = InnerLoops(k);
    double bytes = 0;
    for (const BufferUse& use : buffers_) bytes += Footprint(use, inner);
    chain_.footprint_bytes.push_back(bytes);
  }
}

CacheUse LaunchAnalysis::MeasureCache(double size) const {
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

}  // namespace hone::loop
