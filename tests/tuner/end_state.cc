#include "tests/tuner/end_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace hone::tuner {

namespace {

// Each stands beside a confirm trial that succeeded.
int CountFinals(tuning_db::Store& store, int64_t task) {
  tuning_db::RecordFilter filter;
  filter.task = task;
  filter.purpose = tuning_db::Purpose::kConfirm;
  int count = 0;
  const std::vector<tuning_db::Record> records = store.Records(filter).value();
  for (const tuning_db::Record& record : records) {
    count += record.outcome == tuning_db::Outcome::kOk;
  }
  return count;
}

}  // namespace

std::string EndStateOf(tuning_db::Store& store) {
  tuning_db::RecordFilter filter;
  filter.purpose = tuning_db::Purpose::kSearch;
  const std::vector<tuning_db::Record> records = store.Records(filter).value();
  std::map<int64_t, std::string> lines;  // by trial
  std::set<std::pair<int64_t, std::string>> tasks;
  for (const tuning_db::Record& record : records) {
    tasks.insert({record.of_trial.task, record.of_trial.signature});
    EXPECT_EQ(lines.count(record.trial), 0u) << "trial settled twice";
    lines[record.trial] = fmt::format("{} {} {} {} {} {}\n", record.of_trial.task,
                                      record.of_trial.config, tuning_db::Name(record.outcome),
                                      record.median_ns, record.artifact_digest, record.toolchain);
  }
  // Between tasks the order is open.
  std::map<int64_t, std::string> by_task;
  for (const auto& [trial, line] : lines) by_task[std::stoll(line)] += line;
  std::string text;
  for (const auto& [task, of_task] : by_task) text += of_task;
  for (const auto& [task, signature] : tasks) {
    const auto final = store.NewestFinal(task, signature).value();
    if (!final) continue;
    for (const tuning_db::FinalEntry& entry : final->entries) {
      text += fmt::format("final {} {} {} {}\n", task, entry.config, entry.median_ns,
                          entry.artifact_digest);
    }
    text += fmt::format("winner {} of {} trials, {}, {} finals\n", final->winner,
                        final->distinct_trials, final->toolchain, CountFinals(store, task));
  }
  return text;
}

}  // namespace hone::tuner
