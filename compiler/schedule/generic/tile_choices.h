// The choices of a strategy whose knobs are numbers, where only some combinations of their values
// are allowed.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_TILE_CHOICES_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_TILE_CHOICES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/schedule/config.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/plan.h"
#include "compiler/schedule/space.h"

namespace hone::schedule {

// Immutable.
template <size_t count>
class TileChoices {
 public:
  using Choice = std::array<int64_t, count>;  // a value for each knob
  using Knobs = std::array<const char*, count>;

  // `knobs` are the names of the knobs, in the order in which they are chosen. A nullptr stands for
  // a knob that the kernel does not have; its value is 1 in all choices.
  TileChoices(const Knobs& knobs, std::vector<Choice> choices)
      : knobs_(knobs), choices_(std::move(choices)) {
    std::ranges::sort(choices_);
  }

  // In ascending order.
  const std::vector<Choice>& all() const { return choices_; }

  // The first knob that `prefix` lacks, with the values that the choices in `prefix` leave it;
  // nullopt if it lacks none.
  std::optional<Knob> NextKnob(const Config& prefix) const {
    std::span<const Choice> left = choices_;
    for (size_t knob = 0; knob < count; ++knob) {
      if (knobs_[knob] == nullptr) continue;
      const auto value_of = [knob](const Choice& choice) { return choice[knob]; };
      if (!prefix.Has(knobs_[knob])) {
        std::vector<int64_t> values;
        for (auto at = left.begin(); at != left.end();) {
          values.push_back(value_of(*at));
          at = std::ranges::upper_bound(at, left.end(), values.back(), {}, value_of);
        }
        return IntKnob(knobs_[knob], values);
      }
      const auto same = std::ranges::equal_range(left, prefix.Int(knobs_[knob]), {}, value_of);
      left = {same.begin(), same.end()};
    }
    return std::nullopt;
  }

  // `config` has all knobs.
  Choice ChoiceOf(const Config& config) const {
    Choice choice;
    for (size_t knob = 0; knob < count; ++knob) {
      choice[knob] = knobs_[knob] == nullptr ? 1 : config.Int(knobs_[knob]);
    }
    return choice;
  }

  Config ConfigOf(const Choice& choice) const {
    Config config;
    for (size_t knob = 0; knob < count; ++knob) {
      if (knobs_[knob] != nullptr) config.Set(knobs_[knob], choice[knob]);
    }
    return config;
  }

  // The choices with the fewest cycles by `cycles_of`, the best first; no more of them than a
  // search tries.
  template <typename CyclesOf>
  std::vector<std::pair<double, Choice>> Best(const CyclesOf& cycles_of) const {
    constexpr size_t kMost = 64;
    std::vector<std::pair<double, Choice>> priced;
    for (const Choice& choice : choices_) priced.emplace_back(cycles_of(choice), choice);
    const size_t kept = std::min(priced.size(), kMost);
    std::ranges::partial_sort(priced, priced.begin() + static_cast<ptrdiff_t>(kept));
    priced.resize(kept);
    return priced;
  }

 private:
  Knobs knobs_;
  std::vector<Choice> choices_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_TILE_CHOICES_H_
