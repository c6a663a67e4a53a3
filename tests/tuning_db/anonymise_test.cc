#include "tuning_db/anonymise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/clock.h"
#include "tests/tuning_db/examples.h"

namespace hone::tuning_db {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kKey[] = "a key of a test";

LogLine LineOf(const Record& record) {
  LogLine line;
  line.task = ExampleTask();
  line.record = record;
  line.record.of_trial = ExampleTrial(1, 0);
  return line;
}

TEST(Anonymise, NothingOfWhatPeopleAndMachinesWroteIsInTheLine) {
  const std::string secret = "/data/of/ann/secret";
  LogLine line = LineOf(ExampleRecord(0));
  Record& record = line.record;
  record.outcome = Outcome::kCrash;
  for (std::string* text : {&record.message, &record.artifact_digest, &record.toolchain,
                            &record.device, &record.regime, &record.worker, &record.retracted,
                            &record.of_trial.nest_digest, &line.task.anchor_digest}) {
    *text = secret;
  }
  Anonymiser(kKey).Apply(line);
  EXPECT_THAT(ToJson(line), Not(HasSubstr("secret")));
  EXPECT_EQ(record.message, "crash");
  EXPECT_FALSE(record.retracted.empty()) << "it still counts for nothing";
  EXPECT_TRUE(ParseLogLine(ToJson(line)).ok());

  LogLine of_final;
  of_final.task = ExampleTask();
  of_final.is_final = true;
  of_final.final = ExampleFinal(1, 0);
  of_final.final.toolchain = of_final.final.device = secret;
  for (FinalEntry& entry : of_final.final.entries) {
    entry.nest_digest = entry.artifact_digest = secret;
  }
  Anonymiser(kKey).Apply(of_final);
  EXPECT_THAT(ToJson(of_final), Not(HasSubstr("secret")));
  EXPECT_EQ(of_final.final.device, record.device) << "of one device, with one name";
}

TEST(Anonymise, WhatMakesALogUsefulStays) {
  const Record record = ExampleRecord(0);
  LogLine line = LineOf(record);
  Anonymiser(kKey).Apply(line);
  const LogLine whole = LineOf(record);
  EXPECT_EQ(line.task.workload, whole.task.workload);
  EXPECT_EQ(line.task.target, whole.task.target);
  EXPECT_EQ(line.record.of_trial.config, whole.record.of_trial.config);
  EXPECT_EQ(line.record.of_trial.nest_digest, whole.record.of_trial.nest_digest);
  EXPECT_EQ(line.record.samples_ns, record.samples_ns);
  EXPECT_EQ(line.record.toolchain, record.toolchain);
  EXPECT_EQ(line.record.regime, record.regime);
  EXPECT_EQ(line.record.wall_time_ns, record.wall_time_ns / kDayNs * kDayNs);
}

TEST(Anonymise, APseudonymIsOneDevicesAndOfOneExport) {
  const auto name_of = [](const std::string& device, const std::string& key) {
    Record record = ExampleRecord(0);
    record.device = device;
    LogLine line = LineOf(record);
    Anonymiser(key).Apply(line);
    return line.record.device;
  };
  EXPECT_EQ(name_of("a", kKey), name_of("a", kKey));
  EXPECT_NE(name_of("a", kKey), name_of("b", kKey));
  EXPECT_NE(name_of("a", kKey), name_of("a", "another"));
}

}  // namespace
}  // namespace hone::tuning_db
