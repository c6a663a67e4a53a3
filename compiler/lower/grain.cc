#include "compiler/lower/grain.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/mean_trips.h"
#include "compiler/loop/operator_cost.h"
#include "compiler/loop/visit.h"
#include "compiler/lower/grid.h"

namespace hone::lower {
namespace {

using machine::Machine;

// Trips of a loop whose extent depends on data of which nothing is known.
constexpr double kUnknownTrips = 16;

double OperationsOf(const loop::Expr& e) {
  constexpr double kDivisionOperations = 5;
  constexpr double kFunctionOperations = 15;
  switch (loop::CostOfOperator(e)) {
    case loop::OperatorCost::kCheap:
      return 1;
    case loop::OperatorCost::kDivision:
      return kDivisionOperations;
    case loop::OperatorCost::kFunction:
      return kFunctionOperations;
  }
  return 1;
}

double Operations(const loop::StmtNode& s) {
  double operations = s.kind == loop::StmtKind::kStore ? 1 : 0;
  loop::ForEachExpr(s, [&](const loop::Expr& root) {
    if (!root) return;
    loop::Walk(root, [&](const loop::Expr& e) {
      if (e->kind == loop::ExprKind::kInt || e->kind == loop::ExprKind::kFloat ||
          e->kind == loop::ExprKind::kVar) {
        return;
      }
      // Index arithmetic is mostly hoisted or part of an address.
      if (e->kind == loop::ExprKind::kBinary && e->dtype == DataType::kInt64) return;
      operations += OperationsOf(e);
    });
  });
  return operations;
}

int64_t GridExtent(loop::Stmt body) {
  int64_t grid = 1;
  for (const GridLoop& loop : TakeGrid(&body)) grid *= loop.extent;
  return grid;
}

// Rough time of one thread for a launch: of what it computes, or of what it moves if that is
// longer.
class LaunchTime {
 public:
  static double EstimateNs(const loop::Stmt& body, const Machine& machine) {
    LaunchTime time(machine);
    const double operations = time.Count(body, 1);
    return std::max(operations * machine.launch.grain_operation_ns,
                    time.MovedBytes() * machine.launch.grain_byte_ns);
  }

 private:
  explicit LaunchTime(const Machine& machine) : machine_(machine) {}

  // Operations of one run of a statement; adds the accesses of all its `runs` runs.
  double Count(const loop::Stmt& s, double runs) {
    const double trips = TripsOf(*s);
    double below = 0;
    for (const loop::Stmt& child : s->body) {
      if (child) below += Count(child, runs * trips);
    }
    if (s->kind == loop::StmtKind::kWhile) {  // its condition as often as its body
      CountAccesses(*s, runs * trips);
      return trips * (Operations(*s) + below);
    }
    CountAccesses(*s, runs);
    return Operations(*s) + TimesIssued(*s, trips) * below;
  }

  // The instructions of a body that computes `trips` values.
  double TimesIssued(const loop::StmtNode& s, double trips) const {
    if (s.kind != loop::StmtKind::kFor) return trips;
    if (s.loop_kind == loop::LoopKind::kTile) return 1;
    if (s.loop_kind != loop::LoopKind::kVectorize) return trips;
    return std::max(1.0, trips / static_cast<double>(machine_.vector.FloatLanes()));
  }

  static double TripsOf(const loop::StmtNode& s) {
    if (s.kind == loop::StmtKind::kWhile) return kUnknownTrips;
    if (s.kind != loop::StmtKind::kFor) return 1;
    int64_t extent = 0;
    return loop::IsConstInt(s.extent, &extent) ? static_cast<double>(extent)
                                               : loop::MeanTrips(s.extent).value_or(kUnknownTrips);
  }

  void CountAccesses(const loop::StmtNode& s, double runs) {
    const auto add = [&](const loop::Buffer& buffer) {
      if (buffer->scope == loop::Scope::kGlobal) accesses_[buffer.get()] += runs;
    };
    if (s.kind == loop::StmtKind::kStore) add(s.buffer);
    loop::ForEachExpr(s, [&](const loop::Expr& root) {
      if (!root) return;
      loop::Walk(root, [&](const loop::Expr& e) {
        if (e->kind == loop::ExprKind::kLoad) add(e->buffer);
      });
    });
  }

  // No buffer more than once: what is read again is near.
  double MovedBytes() const {
    double bytes = 0;
    for (const auto& [buffer, accesses] : accesses_) {
      bytes += std::min(accesses * static_cast<double>(SizeBytes(buffer->dtype)),
                        static_cast<double>(buffer->SizeBytes()));
    }
    return bytes;
  }

  const Machine& machine_;
  absl::flat_hash_map<const loop::BufferNode*, double> accesses_;
};

}  // namespace

std::vector<bool> AreBelowGrain(const std::vector<loop::Launch>& launches, const Machine& machine) {
  std::vector<bool> below;
  for (const loop::Launch& launch : launches) {
    below.push_back(GridExtent(launch.body) <= 1 ||
                    LaunchTime::EstimateNs(launch.body, machine) < machine.launch.grain_ns);
  }
  return below;
}

}  // namespace hone::lower
