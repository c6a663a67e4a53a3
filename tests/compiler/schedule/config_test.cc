#include "compiler/schedule/config.h"

#include "gtest/gtest.h"

namespace hone::schedule {
namespace {

TEST(Config, TextRoundTripsInTheOrderOfTheKnobs) {
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

TEST(Config, SettingAKnobAgainKeepsItsPlace) {
  Config config;
  config.Set("a", int64_t{1});
  config.Set("b", int64_t{2});
  config.Set("a", int64_t{3});
  EXPECT_EQ(config.ToText(), R"({"a":3,"b":2})");
}

TEST(Config, RefusesWhatIsNoConfig) {
  for (const char* text :
       {"", "[1]", "{\"a\":1.5}", "{\"a\":{}}", "{\"a\":1", "{\"a\":1,\"a\":2}"}) {
    EXPECT_EQ(Config::Parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace hone::schedule
