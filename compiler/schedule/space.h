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

// One node of the tree: the next choice, and its options given the choices before it. There is
// always at least one option.
struct Knob {
  std::string name;
  std::vector<KnobValue> options;
  // The value that a config has if it was recorded before the knob existed.
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

  // The number of leaves; counting stops at `limit`.
  int64_t Count(int64_t limit = int64_t{1} << 20) const;
  // Walks down with a uniform choice at each node.
  Config Sample(Random& random) const;
  // Changes one choice; the choices below it are kept where they are still options, else drawn
  // anew.
  Config Mutate(const Config& config, Random& random) const;
  // At each node takes the choice of one parent, drawn at random, if it is an option, else the
  // choice of the other parent, else draws an option.
  Config Crossover(const Config& a, const Config& b, Random& random) const;
  // All leaves in order, at most `limit`.
  std::vector<Config> Enumerate(int64_t limit) const;
  bool Contains(const Config& config) const;
  // The config with its missing knobs set to their legacy values; nullopt: a value is no longer an
  // option, a knob is unknown, or a missing knob has no legacy value.
  std::optional<Config> Migrate(const Config& config) const;

 private:
  std::function<std::optional<Knob>(const Config& prefix)> next_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_SPACE_H_
