#include "tests/tuner/end_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace hone::tuner {

std::string EndStateOf(tuning_db::Store& store) {
  tuning_db::RecordFilter filter;
  filter.purpose = tuning_db::Purpose::kSearch;
  const std::vector<tuning_db::Record> records = store.Records(filter).value();
  std::map<int64_t, std::string> lines;  // by trial
  std::set<std::pair<int64_t, std::string>> tasks;
  for (const tuning_db::Record& record : records) {
    tasks.insert({record.of_trial.task, record.of_trial.signature});
    EXPECT_EQ(lines.count(record.trial), 0u) << "trial settled twice";
    lines[record.trial] = fmt::format("{} {} {} {}\n", record.of_trial.task, record.of_trial.config,
                                      tuning_db::Name(record.outcome), record.median_ns);
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
      text += fmt::format("final {} {} {}\n", task, entry.config, entry.median_ns);
    }
    text += fmt::format("winner {} of {} trials\n", final->winner, final->distinct_trials);
  }
  return text;
}

}  // namespace hone::tuner
