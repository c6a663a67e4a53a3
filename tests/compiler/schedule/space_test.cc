#include "compiler/schedule/space.h"

#include <set>

#include "gtest/gtest.h"

namespace hone::schedule {
namespace {

Knob Ints(std::string name, std::vector<int64_t> values) {
  Knob knob;
  knob.name = std::move(name);
  for (int64_t value : values) knob.options.emplace_back(value);
  return knob;
}

// tile in {1,2,4}; vectors with tile * vectors <= 4; only tile 4 opens "unroll".
Space TestSpace() {
  return Space([](const Config& prefix) -> std::optional<Knob> {
    if (!prefix.Has("tile")) return Ints("tile", {1, 2, 4});
    const int64_t tile = prefix.Int("tile");
    if (!prefix.Has("vectors")) {
      Knob knob = Ints("vectors", {});
      for (int64_t v : {1, 2, 4}) {
        if (tile * v <= 4) knob.options.emplace_back(v);
      }
      return knob;
    }
    if (tile == 4 && !prefix.Has("unroll")) {
      Knob knob = Ints("unroll", {1, 2});
      knob.legacy_value = int64_t{1};
      return knob;
    }
    return std::nullopt;
  });
}

TEST(Space, CountsAndEnumeratesItsLeaves) {
  const Space space = TestSpace();
  EXPECT_EQ(space.Count(), 3 + 2 + 2);
  EXPECT_EQ(space.Count(4), 4);
  std::set<std::string> texts;
  for (const Config& config : space.Enumerate(100)) {
    EXPECT_TRUE(space.Contains(config));
    texts.insert(config.ToText());
  }
  EXPECT_EQ(texts.size(), 7u);
  EXPECT_EQ(space.Enumerate(3).size(), 3u);
}

TEST(Space, SamplingMutationAndCrossoverGiveConfigsOfTheSpaceOnly) {
  const Space space = TestSpace();
  Random random(1);
  int moved = 0;
  for (int i = 0; i < 300; ++i) {
    const Config a = space.Sample(random);
    const Config b = space.Sample(random);
    const Config mutated = space.Mutate(a, random);
    EXPECT_TRUE(space.Contains(a));
    EXPECT_TRUE(space.Contains(mutated)) << mutated.ToText();
    EXPECT_TRUE(space.Contains(space.Crossover(a, b, random)));
    moved += mutated == a ? 0 : 1;
  }
  EXPECT_EQ(moved, 300);
}

TEST(Space, MigratesByLegacyValuesOnly) {
  const Space space = TestSpace();
  const auto old = Config::Parse(R"({"tile":4,"vectors":1})");
  const std::optional<Config> migrated = space.Migrate(*old);
  ASSERT_TRUE(migrated);
  EXPECT_EQ(migrated->ToText(), R"({"tile":4,"unroll":1,"vectors":1})");
  EXPECT_FALSE(space.Migrate(*Config::Parse(R"({"tile":3,"vectors":1})")));
  EXPECT_FALSE(space.Migrate(*Config::Parse(R"({"tile":1,"vectors":1,"gone":1})")));
  EXPECT_FALSE(space.Migrate(*Config::Parse(R"({"vectors":1})")));
}

}  // namespace
}  // namespace hone::schedule
