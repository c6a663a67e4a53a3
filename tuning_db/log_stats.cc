#include "tuning_db/log_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "support/status.h"

namespace hone::tuning_db {
namespace {

std::string DayName(int64_t day) {
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(day)))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace

int64_t DayOf(int64_t wall_time_ns) {
  return std::chrono::floor<std::chrono::days>(std::chrono::nanoseconds(wall_time_ns)).count();
}

void StatsCounter::Add(const Group& group) {
  first_wall_ns_ =
      all_.records == 0 ? group.first_wall_ns : std::min(first_wall_ns_, group.first_wall_ns);
  last_wall_ns_ =
      all_.records == 0 ? group.last_wall_ns : std::max(last_wall_ns_, group.last_wall_ns);
  AddTo(all_, group);
  AddTo(outcomes_[static_cast<int64_t>(group.outcome)], group);
  AddTo(purposes_[static_cast<int64_t>(group.purpose)], group);
  AddTo(tasks_[group.task], group);
  AddTo(devices_[group.device], group);
  AddTo(days_[group.day], group);
}

void StatsCounter::AddTo(Counts& counts, const Group& group) {
  counts.records += group.records;
  if (group.outcome != Outcome::kOk) counts.failures += group.records;
}

absl::StatusOr<std::vector<LogCount>> StatsCounter::ByNames(const ById& counts,
                                                            const NameOf& name_of) {
  std::map<std::string, Counts> by_name;
  for (const auto& [id, of_id] : counts) {
    HONE_ASSIGN_OR_RETURN(const std::string name, name_of(id));
    by_name[name].records += of_id.records;
    by_name[name].failures += of_id.failures;
  }
  std::vector<LogCount> list;
  for (const auto& [name, of_name] : by_name) {
    list.push_back({name, of_name.records, of_name.failures});
  }
  std::ranges::stable_sort(
      list, [](const LogCount& a, const LogCount& b) { return a.records > b.records; });
  return list;
}

absl::StatusOr<LogStats> StatsCounter::Finish(const NameOf& target_of_task,
                                              const NameOf& device) const {
  LogStats stats;
  stats.records = all_.records;
  stats.failures = all_.failures;
  stats.tasks = static_cast<int64_t>(tasks_.size());
  stats.first_wall_ns = first_wall_ns_;
  stats.last_wall_ns = last_wall_ns_;
  for (const auto& [id, counts] : outcomes_) {
    stats.outcomes.push_back(
        {std::string(Name(static_cast<Outcome>(id))), counts.records, counts.failures});
  }
  for (const auto& [id, counts] : purposes_) {
    stats.purposes.push_back(
        {std::string(Name(static_cast<Purpose>(id))), counts.records, counts.failures});
  }
  HONE_ASSIGN_OR_RETURN(stats.targets, ByNames(tasks_, target_of_task));
  HONE_ASSIGN_OR_RETURN(stats.devices, ByNames(devices_, device));
  for (auto day = days_.rbegin(); day != days_.rend() && stats.days.size() < kDaysOfStats; ++day) {
    stats.days.push_back({DayName(day->first), day->second.records, day->second.failures});
  }
  return stats;
}

}  // namespace hone::tuning_db
