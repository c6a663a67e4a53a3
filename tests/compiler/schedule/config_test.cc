#include "compiler/schedule/config.h"

#include "gtest/gtest.h"

namespace hone::schedule {
namespace {

TEST(Config, TextRoundTripsByTheKnobsNames) {
  Config config;
  config.Set("strategy", std::string("direct"));
  config.Set("tile_w", int64_t{14});
  EXPECT_EQ(config.ToText(), R"({"strategy":"direct","tile_w":14})");
  const absl::StatusOr<Config> parsed = Config::Parse(config.ToText());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, config);
  EXPECT_EQ(parsed->Digest(), config.Digest());
  EXPECT_EQ(config.Digest().size(), 64u);
}

TEST(Config, SettingAKnobAgainReplacesItsValue) {
  Config config;
  config.Set("a", int64_t{1});
  config.Set("b", int64_t{2});
  config.Set("a", int64_t{3});
  EXPECT_EQ(config.ToText(), R"({"a":3,"b":2})");
}

// A tuner that told orders apart ran the final of some kernels for ever.
TEST(Config, IsTheSameInWhateverOrderItsKnobsWereSet) {
  Config one;
  one.Set("tile_w", int64_t{14});
  one.Set("strategy", std::string("direct"));
  one.Set("chunk", int64_t{0});
  Config other;
  other.Set("chunk", int64_t{0});
  other.Set("strategy", std::string("direct"));
  other.Set("tile_w", int64_t{14});
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.ToText(), R"({"chunk":0,"strategy":"direct","tile_w":14})");
  EXPECT_EQ(one.ToText(), other.ToText());
  EXPECT_EQ(one.Digest(), other.Digest());
  const auto stored = Config::Parse(R"({"tile_w":14,"strategy":"direct","chunk":0})");
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(*stored, one);
}

TEST(Config, RefusesWhatIsNoConfig) {
  for (const char* text :
       {"", "[1]", "{\"a\":1.5}", "{\"a\":{}}", "{\"a\":1", "{\"a\":1,\"a\":2}"}) {
    EXPECT_EQ(Config::Parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace hone::schedule
