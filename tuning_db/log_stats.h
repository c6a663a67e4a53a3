// Counts what was measured.
#ifndef HONE_TUNING_DB_LOG_STATS_H_
#define HONE_TUNING_DB_LOG_STATS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

struct LogCount {
  std::string name;
  int64_t records = 0;
  int64_t failures = 0;
};

// LogStats::days has at most this many entries: the newest days that have records.
inline constexpr size_t kDaysOfStats = 31;

struct LogStats {
  int64_t records = 0;
  int64_t failures = 0;
  int64_t tasks = 0;          // that have such records
  int64_t finals = 0;         // as many as LogStore::ListFinals lists for the same filter
  int64_t first_wall_ns = 0;  // of the oldest record; 0: there is none
  int64_t last_wall_ns = 0;
  std::vector<LogCount> outcomes;  // in the order of the enum
  std::vector<LogCount> purposes;  // likewise
  std::vector<LogCount> targets;   // the most records first
  std::vector<LogCount> devices;   // likewise
  std::vector<LogCount> days;      // "2026-11-27", UTC; the newest first
};

// A day as a number of days since 1970, UTC.
int64_t DayOf(int64_t wall_time_ns);

// Adds up groups of records. Tasks and devices are given by their ids in the store. Not
// thread-safe.
class StatsCounter {
 public:
  struct Group {
    int64_t task = 0;
    int64_t device = 0;
    Purpose purpose = Purpose::kSearch;
    Outcome outcome = Outcome::kOk;
    int64_t day = 0;
    int64_t records = 1;
    int64_t first_wall_ns = 0;
    int64_t last_wall_ns = 0;
  };
  using NameOf = std::function<absl::StatusOr<std::string>(int64_t id)>;

  void Add(const Group& group);
  // Everything but `finals`.
  absl::StatusOr<LogStats> Finish(const NameOf& target_of_task, const NameOf& device) const;

 private:
  struct Counts {
    int64_t records = 0;
    int64_t failures = 0;
  };
  using ById = std::map<int64_t, Counts>;

  static void AddTo(Counts& counts, const Group& group);
  static absl::StatusOr<std::vector<LogCount>> ByNames(const ById& counts, const NameOf& name_of);

  Counts all_;
  int64_t first_wall_ns_ = 0;
  int64_t last_wall_ns_ = 0;
  ById outcomes_;
  ById purposes_;
  ById tasks_;
  ById devices_;
  ById days_;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_STATS_H_
