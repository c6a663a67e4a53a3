// Pairs of a workload and a config of its schedule for devices with a grid of threads.
#ifndef HONE_TESTS_COMPILER_CODEGEN_GRID_PAIRS_H_
#define HONE_TESTS_COMPILER_CODEGEN_GRID_PAIRS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/ir/target.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/space.h"
#include "support/random.h"

namespace hone::codegen {

// The values of knobs that spaces offered, and those that ran. Not thread-safe.
class KnobCoverage {
 public:
  // The strategy of the space of which the fewest configs ran.
  std::string RarestStrategy(const schedule::Space& space) const;
  // The config is of the space, and has run.
  void Add(const schedule::Space& space, const schedule::Config& config);
  // Counts the layouts of a kernel that ran, one of `count` that it could have, as a knob's value.
  void AddLayouts(size_t number, size_t count);

  // Fails the test where a space offered a strategy, and no config of it ran.
  void ExpectAllStrategies() const;
  // Fails the test where a knob of a strategy was a choice, and all that ran had the same value.
  void ExpectAllKnobs() const;
  // How many configs of each strategy ran.
  std::string Summary() const;

 private:
  using Owner = std::pair<std::string, std::string>;  // a strategy and its knob
  std::map<Owner, std::set<std::string>> offered_;
  std::map<Owner, std::map<std::string, int>> ran_;
};

// Draws workloads (grid_workload.h), a layout that the target has for each, and a few configs: the
// default, and of the strategies that ran least so far. Thread-compatible.
class GridPairs {
 public:
  // Fails the test where what a device gives for the nest is not what the interpreter gives.
  using Check = std::function<void(const loop::Nest& nest, double tolerance)>;

  // The seed is HONE_RANDOM_SEED where the environment has it, else `seed`.
  GridPairs(const std::string& target, uint64_t seed, Check check);

  // Checks so many pairs, up to the first that fails the test, which it names.
  void Run(int pairs);
  const KnobCoverage& coverage() const { return coverage_; }

 private:
  int RunWorkload(int most_pairs);  // returns how many pairs it was

  const Target target_;
  const Check check_;
  Random random_;
  int workloads_ = 0;  // drawn so far
  KnobCoverage coverage_;
};

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_GRID_PAIRS_H_
