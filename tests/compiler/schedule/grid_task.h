// Tasks on machines with a grid of threads, and checks of their configs.
#ifndef HONE_TESTS_COMPILER_SCHEDULE_GRID_TASK_H_
#define HONE_TESTS_COMPILER_SCHEDULE_GRID_TASK_H_

#include <cstdint>
#include <string>

#include "compiler/ops/lower.h"
#include "compiler/schedule/space.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

inline constexpr char kSmallGpu[] = "cuda -arch=sm_80 -multiprocessors=4";

// A kernel's task on a GPU, with the definition that it points to.
class GridTask {
 public:
  // `signature`: which of the layout signatures of the kernel, by its place among them.
  explicit GridTask(const std::string& kernel, const std::string& target = kSmallGpu,
                    size_t signature = 0);

  Task task() const;
  const loop::Nest& naive() const { return def_.naive; }
  int64_t ConfigCount() const;
  std::string Default() const;
  // Whether the kernel has the strategy.
  bool Has(const std::string& strategy) const;
  // The configs of one strategy, which the kernel has.
  Space SpaceOf(const std::string& strategy) const;

 private:
  const ops::KernelDefinition def_;
  const Target target_;
  const size_t signature_;
};

// EXPECTs that the config's nest is the golden one, and computes what the naive nest does.
void ExpectGoldenOf(const GridTask& one, const std::string& golden, const std::string& config);

// EXPECTs that some random configs of a strategy compute what the naive nest does, up to
// `tolerance` times the largest value, and that lowering takes them. Answers whether all did.
bool CheckStrategyOnGrid(const std::string& kernel, const std::string& strategy, int configs,
                         uint64_t seed, double tolerance = 0, size_t signature = 0);

}  // namespace hone::schedule

#endif  // HONE_TESTS_COMPILER_SCHEDULE_GRID_TASK_H_
