// What one launch does and touches, measured on its loops: the raw material of features.
#ifndef HONE_COMPILER_LOOP_LAUNCH_SUMMARY_H_
#define HONE_COMPILER_LOOP_LAUNCH_SUMMARY_H_

#include <vector>

#include "compiler/loop/linear.h"
#include "compiler/loop/stmt.h"

namespace hone::loop {

// How often operations of each sort are executed, over the whole launch.
struct OpCounts {
  double fma = 0;  // float additions one operand of which is a product
  double add = 0;
  double mul = 0;
  double div = 0;
  double special = 0;  // exp, tanh, pow, ...
  double extremum = 0;
  double compare = 0;  // comparisons, selects and logic
  double integer = 0;
  double loads = 0;
  double stores = 0;

  double Flops() const { return 2 * fma + add + mul + div + 8 * special + extremum; }
  void AddScaled(const OpCounts& other, double factor);
};

struct LoopInfo {
  const StmtNode* loop = nullptr;
  double extent = 1;     // the upper bound; if there is none, the mean (mean_trips.h) or a guess
  double enclosing = 1;  // product of the extents of the loops around it
};

struct AccessInfo {
  const BufferNode* buffer = nullptr;
  bool is_store = false;
  double count = 0;             // executions
  std::vector<Linear> indices;  // logical
  std::vector<int> path;  // loops around it, outermost first; positions in LaunchSummary::loops
};

struct StoreInfo {
  const StmtNode* store = nullptr;
  std::vector<int> path;
  double trips = 1;
  OpCounts ops;               // of one execution
  double register_bytes = 0;  // bytes of the register buffers that are live here
};

struct LaunchSummary {
  OpCounts totals;
  std::vector<LoopInfo> loops;
  std::vector<AccessInfo> accesses;
  std::vector<StoreInfo> stores;
  int conditions = 0;
  int prefetches = 0;

  // The store that computes most; -1 where there is none.
  int MainStore() const;
  double GridSize() const;  // product of the parallel extents
};

LaunchSummary Summarise(const Launch& launch);

// How many elements an access touches along each dimension of its buffer while the loops `inner`
// (positions) run and all other loops stand still. Each figure is at most the padded extent.
std::vector<double> TouchedExtents(const LaunchSummary& summary, const AccessInfo& access,
                                   const std::vector<bool>& inner);
// Whether the access moves when loop `position` advances.
bool DependsOn(const LaunchSummary& summary, const AccessInfo& access, int position);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_LAUNCH_SUMMARY_H_
