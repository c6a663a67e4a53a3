#include "compiler/schedule/space.h"

#include <algorithm>

namespace hone::schedule {
namespace {

bool IsOption(const Knob& knob, const KnobValue& value) {
  return std::find(knob.options.begin(), knob.options.end(), value) != knob.options.end();
}

const KnobValue& Draw(const Knob& knob, Random& random) {
  return knob.options[random.Below(knob.options.size())];
}

void CountBelow(const Space& space, const Config& prefix, int64_t limit, int64_t* count) {
  const std::optional<Knob> knob = space.Next(prefix);
  if (!knob) {
    ++*count;
    return;
  }
  for (const KnobValue& option : knob->options) {
    if (*count >= limit) return;
    Config next = prefix;
    next.Set(knob->name, option);
    CountBelow(space, next, limit, count);
  }
}

void EnumerateBelow(const Space& space, const Config& prefix, size_t limit,
                    std::vector<Config>* leaves) {
  const std::optional<Knob> knob = space.Next(prefix);
  if (!knob) {
    leaves->push_back(prefix);
    return;
  }
  for (const KnobValue& option : knob->options) {
    if (leaves->size() >= limit) return;
    Config next = prefix;
    next.Set(knob->name, option);
    EnumerateBelow(space, next, limit, leaves);
  }
}

}  // namespace

int64_t Space::Count(int64_t limit) const {
  int64_t count = 0;
  CountBelow(*this, Config(), limit, &count);
  return count;
}

std::vector<Config> Space::Enumerate(int64_t limit) const {
  std::vector<Config> leaves;
  if (limit > 0) EnumerateBelow(*this, Config(), static_cast<size_t>(limit), &leaves);
  return leaves;
}

Config Space::Sample(Random& random) const {
  Config config;
  while (const std::optional<Knob> knob = Next(config)) config.Set(knob->name, Draw(*knob, random));
  return config;
}

Config Space::Mutate(const Config& config, Random& random) const {
  // The nodes on the path of `config` that leave a choice.
  std::vector<std::string> open;
  Config walked;
  while (const std::optional<Knob> knob = Next(walked)) {
    const KnobValue* value = config.Find(knob->name);
    if (value == nullptr || !IsOption(*knob, *value)) break;
    if (knob->options.size() > 1) open.push_back(knob->name);
    walked.Set(knob->name, *value);
  }
  const std::string changed = open.empty() ? "" : open[random.Below(open.size())];
  Config result;
  while (const std::optional<Knob> knob = Next(result)) {
    const KnobValue* value = config.Find(knob->name);
    if (knob->name == changed && value != nullptr) {
      std::vector<KnobValue> others;
      for (const KnobValue& option : knob->options) {
        if (option != *value) others.push_back(option);
      }
      result.Set(knob->name, others[random.Below(others.size())]);
    } else if (value != nullptr && IsOption(*knob, *value)) {
      result.Set(knob->name, *value);
    } else {
      result.Set(knob->name, Draw(*knob, random));
    }
  }
  return result;
}

Config Space::Crossover(const Config& a, const Config& b, Random& random) const {
  Config result;
  while (const std::optional<Knob> knob = Next(result)) {
    const bool a_first = random.Below(2) == 0;
    const KnobValue* first = (a_first ? a : b).Find(knob->name);
    const KnobValue* second = (a_first ? b : a).Find(knob->name);
    if (first != nullptr && IsOption(*knob, *first)) {
      result.Set(knob->name, *first);
    } else if (second != nullptr && IsOption(*knob, *second)) {
      result.Set(knob->name, *second);
    } else {
      result.Set(knob->name, Draw(*knob, random));
    }
  }
  return result;
}

bool Space::Contains(const Config& config) const {
  Config walked;
  while (const std::optional<Knob> knob = Next(walked)) {
    const KnobValue* value = config.Find(knob->name);
    if (value == nullptr || !IsOption(*knob, *value)) return false;
    walked.Set(knob->name, *value);
  }
  return walked.entries().size() == config.entries().size();
}

std::optional<Config> Space::Migrate(const Config& config) const {
  Config migrated;
  size_t used = 0;
  while (const std::optional<Knob> knob = Next(migrated)) {
    const KnobValue* value = config.Find(knob->name);
    if (value != nullptr) {
      ++used;
    } else if (knob->legacy_value) {
      value = &*knob->legacy_value;
    }
    if (value == nullptr || !IsOption(*knob, *value)) return std::nullopt;
    migrated.Set(knob->name, *value);
  }
  if (used != config.entries().size()) return std::nullopt;
  return migrated;
}

}  // namespace hone::schedule
