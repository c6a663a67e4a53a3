// Lines of the log as JSON.
#include "support/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace hone {
namespace {

class JsonLog : public testing::Test {
 protected:
  JsonLog() : logger_("honed", std::make_shared<spdlog::sinks::ostream_sink_st>(text_)) {
    logger_.set_formatter(MakeJsonFormatter());
  }
  // The only line so far.
  nlohmann::json Line() {
    const std::string text = text_.str();
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
    return nlohmann::json::parse(text);
  }

  std::ostringstream text_;
  spdlog::logger logger_;
};

TEST_F(JsonLog, HasAnObjectALine) {
  logger_.warn("worker {} joined", "w1");
  const nlohmann::json line = Line();
  EXPECT_EQ(line["level"], "warning");
  EXPECT_EQ(line["component"], "honed");
  EXPECT_EQ(line["message"], "worker w1 joined");
  EXPECT_THAT(line["time"].get<std::string>(),
              testing::MatchesRegex("....-..-..T..:..:..\\.......Z"));
  EXPECT_EQ(line.size(), 4u);
}

TEST_F(JsonLog, EscapesWhateverAMessageHolds) {
  const std::string message = "a \"quote\", a \\, a\nline, a\ttab, \x01 and \xC3\xA4";
  logger_.error("{}", message);
  EXPECT_EQ(Line()["message"], message);
}

TEST_F(JsonLog, ReplacesBytesThatAreNoText) {
  logger_.error("{}", std::string("it wrote \xff\xfe"));
  EXPECT_EQ(Line()["message"], "it wrote \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_F(JsonLog, NamesWhatALineIsAboutWhileThatLasts) {
  {
    const LogFields worker({{"worker", "w \"1\""}});
    const LogFields trial({{"trial", int64_t{7}}});
    logger_.info("lost");
  }
  const nlohmann::json line = Line();
  EXPECT_EQ(line["worker"], "w \"1\"");
  EXPECT_EQ(line["trial"], 7);
  text_.str("");
  logger_.info("lost");
  EXPECT_FALSE(Line().contains("worker"));
}

TEST(LogFormats, AreTextAndJson) {
  EXPECT_EQ(ParseLogFormat("text"), LogFormat::kText);
  EXPECT_EQ(ParseLogFormat("json"), LogFormat::kJson);
  EXPECT_EQ(ParseLogFormat("xml"), std::nullopt);
}

}  // namespace
}  // namespace hone
