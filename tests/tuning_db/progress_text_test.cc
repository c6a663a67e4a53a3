// What is kept of an ended job is read as it was written.
#include "tuning_db/progress_text.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace hone::tuning_db {
namespace {

TaskProgress ProgressWith(double default_ns, double best_ns) {
  TaskProgress task;
  task.task = 7;
  task.signature = "NC->NC";
  task.workload_digest = "00";
  task.trials = 3;
  task.default_ns = default_ns;
  task.best_ns = best_ns;
  task.final = FinalFigures{.distinct_trials = 2,
                            .space_size = 9,
                            .ended_share = 0.1,
                            .default_ns = default_ns,
                            .winner_ns = best_ns};
  return task;
}

TEST(ProgressText, KeepsFiguresToTheLastBit) {
  const std::vector<TaskProgress> written = {ProgressWith(1000.0 / 3, 0.1)};
  const auto read = ProgressFromText(ToText(written));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToText(*read), ToText(written));
  EXPECT_EQ(read->at(0).default_ns, 1000.0 / 3);
}

// JSON has no such numbers, and imported logs may.
TEST(ProgressText, KeepsFiguresThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const auto read = ProgressFromText(ToText({ProgressWith(nan, inf), ProgressWith(-inf, 1)}));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(std::isnan(read->at(0).default_ns));
  EXPECT_EQ(read->at(0).best_ns, inf);
  EXPECT_TRUE(std::isnan(read->at(0).final->default_ns));
  EXPECT_EQ(read->at(0).final->winner_ns, inf);
  EXPECT_EQ(read->at(1).default_ns, -inf);
}

TEST(ProgressText, SaysThatDamagedTextIsDamaged) {
  for (const char* text : {"", "[{}]", "[1", R"([{"task":"x"}])"}) {
    EXPECT_FALSE(ProgressFromText(text).ok()) << text;
  }
}

}  // namespace
}  // namespace hone::tuning_db
