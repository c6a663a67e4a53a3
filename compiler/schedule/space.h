// Schedule spaces: the tree of choices of a task.
#ifndef HONE_COMPILER_SCHEDULE_SPACE_H_
#define HONE_COMPILER_SCHEDULE_SPACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/config.h"
#include "support/random.h"

namespace hone::schedule {

// One node of the tree: the next choice, and its options given the choices before it. Never empty.
struct Knob {
  std::string name;
  std::vector<KnobValue> options;
  // What configs recorded before the knob existed mean.
  std::optional<KnobValue> legacy_value;
};

// The tree is a function: from the choices made so far to the next node, or nullopt at a leaf. A
// constraint prunes options at the first node where it can be decided, so every leaf is a valid
// config: counting, sampling, mutation and crossover walk the tree and give valid configs only.
// Thread-compatible; Next is pure.
class Space {
 public:
  explicit Space(std::function<std::optional<Knob>(const Config& prefix)> next)
      : next_(std::move(next)) {}

  std::optional<Knob> Next(const Config& prefix) const { return next_(prefix); }

  // Leaves, counted up to `limit`.
  int64_t Count(int64_t limit = int64_t{1} << 20) const;
  // Walks down with a uniform choice at each node.
  Config Sample(Random& random) const;
  // Changes one choice; the choices below it are kept where they are still options, else drawn
  // anew.
  Config Mutate(const Config& config, Random& random) const;
  // At each node takes the choice of one parent where it is an option, else of the other, else
  // draws.
  Config Crossover(const Config& a, const Config& b, Random& random) const;
  // All leaves in order, at most `limit`.
  std::vector<Config> Enumerate(int64_t limit) const;
  bool Contains(const Config& config) const;
  // Missing knobs filled with their legacy values; nullopt where a value is no longer an option or
  // a knob is unknown.
  std::optional<Config> Migrate(const Config& config) const;

 private:
  std::function<std::optional<Knob>(const Config& prefix)> next_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_SPACE_H_
