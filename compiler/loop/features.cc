#include "compiler/loop/features.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "compiler/loop/bounds.h"
#include "compiler/loop/launch_analysis.h"
#include "compiler/loop/simplify.h"
#include "compiler/loop/visit.h"

namespace hone::loop {
namespace {

constexpr int kLevels = 8;   // innermost loops around the main store
constexpr int kBuffers = 5;  // of the main launch, by footprint

double Log(double x) { return std::log2(1 + std::max(x, 0.0)); }
double LogRatio(double a, double b) {
  return std::clamp(std::log2(std::max(a, 1e-9) / std::max(b, 1e-9)), -30.0, 30.0);
}

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

void WriteTarget(Writer& out, const CpuTarget& target) {
  out.Add("target.lanes", target.VectorLanes());
  out.Add("target.registers", target.VectorRegisters());
  out.Add("target.threads", target.threads);
  out.Add("target.l1", Log(static_cast<double>(target.facts.l1_bytes)));
  out.Add("target.l2", Log(static_cast<double>(target.facts.l2_bytes)));
  out.Add("target.l3", Log(static_cast<double>(target.facts.l3_bytes)));
}

void WriteParallel(Writer& out, const LaunchAnalysis* main, const CpuTarget& target) {
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

void WriteCaches(Writer& out, const LaunchAnalysis* main, const CpuTarget& target) {
  const int64_t sizes[3] = {target.facts.l1_bytes, target.facts.l2_bytes, target.facts.l3_bytes};
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

void WriteBuffers(Writer& out, const LaunchAnalysis* main, const CpuTarget& target) {
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
    out.Add(prefix, "per_l1", LogRatio(use.bytes, static_cast<double>(target.facts.l1_bytes)));
    out.Add(prefix, "per_l2", LogRatio(use.bytes, static_cast<double>(target.facts.l2_bytes)));
    out.Add(prefix, "per_l3", LogRatio(use.bytes, static_cast<double>(target.facts.l3_bytes)));
  }
}

// Gives the values, and their names unless null.
std::vector<float> Write(const Nest& nest, const CpuTarget& target, double* analytic_seconds,
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

NestFeatures ExtractFeatures(const Nest& nest, const CpuTarget& target) {
  NestFeatures features;
  features.values = Write(nest, target, &features.analytic_seconds);
  return features;
}

const std::vector<std::string>& FeatureNames() {
  static const auto* names = [] {
    double unused = 0;
    auto* written = new std::vector<std::string>();
    Write(Nest{}, CpuTarget{}, &unused, written);
    return written;
  }();
  return *names;
}

}  // namespace hone::loop
