// What `hone tune --events` prints: a line of JSON an event, at most ten a second.
#include "cli/tune_events.h"

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/clock.h"

namespace hone::cli {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

class SetClock : public Clock {
 public:
  int64_t NowNs() const override { return now_ns; }
  int64_t WallTimeNs() const override { return 0; }
  int64_t now_ns = 1'000'000'000;
};

std::vector<json> EventsOf(const std::function<void()>& act) {
  testing::internal::CaptureStdout();
  act();
  std::istringstream lines(testing::internal::GetCapturedStdout());
  std::vector<json> events;
  for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
  return events;
}

v1::JobInfo JobWith(int trials) {
  v1::JobInfo job;
  job.set_id(7);
  v1::TaskProgress& task = *job.add_tasks();
  task.set_trials(trials);
  task.set_total_trials(trials + 1);
  task.set_budget(64);
  task.set_weight(2);
  task.set_default_ns(3000);
  task.set_best_ns(1500);
  return job;
}

TEST(TuneEvents, SayHowAJobStands) {
  SetClock clock;
  TuneEvents events(clock);
  const auto printed = EventsOf([&] { events.Progress("search", JobWith(3)); });
  ASSERT_EQ(printed.size(), 1u);
  EXPECT_EQ(printed[0], json::parse(R"({"event": "progress", "phase": "search", "job": 7,
    "trials": 3, "done": 4, "budget": 64, "failures": 0, "default_us": 6.0, "best_us": 3.0,
    "waiting": ""})"));
}

TEST(TuneEvents, AreAtMostTenASecondButTheFirstOfEachPhase) {
  SetClock clock;
  TuneEvents events(clock);
  const auto printed = EventsOf([&] {
    events.Progress("search", JobWith(1));
    events.Progress("search", JobWith(2));
    events.Progress("final", JobWith(3));
    events.Progress("search", JobWith(4));
    clock.now_ns += 100'000'000;
    events.Progress("search", JobWith(5));
  });
  std::vector<int> trials;
  for (const json& event : printed) trials.push_back(event["trials"]);
  EXPECT_THAT(trials, ElementsAre(1, 3, 5));
}

TEST(TuneEvents, EndWithTheDocumentOnOneLine) {
  SetClock clock;
  TuneEvents events(clock);
  const auto printed = EventsOf([&] {
    events.Phase("model");
    events.Result({{"schema", 1}, {"models", json::array({1, 2})}});
  });
  EXPECT_THAT(printed, ElementsAre(json({{"event", "phase"}, {"phase", "model"}}),
                                   json({{"event", "result"}, {"schema", 1}, {"models", {1, 2}}})));
}

}  // namespace
}  // namespace hone::cli
