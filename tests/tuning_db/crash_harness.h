// Runs crash_child_main.cc, kills it, and looks at what it left.
#ifndef HONE_TESTS_TUNING_DB_CRASH_HARNESS_H_
#define HONE_TESTS_TUNING_DB_CRASH_HARNESS_H_

#include <string>
#include <vector>

#include "tests/tuning_db/temp_folder.h"

namespace hone::tuning_db {

// One database through any number of lives of its daemon.
class CrashRun {
 public:
  explicit CrashRun(int trials, int threads = 1) : trials_(trials), threads_(threads) {}
  // In a database on a server, which holds nothing yet.
  CrashRun(int trials, int threads, const std::string& address)
      : trials_(trials), threads_(threads), address_(address) {}

  enum class End { kKilled, kFinished, kFailed };
  // Lives until the N-th passage of a crash point, "NAME:N"; empty: to the end of the script.
  End LiveUntil(const std::string& point);
  // Lives until killed from outside.
  End LiveFor(int64_t microseconds);
  // The points passed in a whole life, in order.
  std::vector<std::string> ListPoints();

  // Expects that the store is sound and holds everything that was acknowledged.
  void ExpectNothingLost() const;
  // Everything in the store but what depends on the number of lives (leases, times, ids of
  // records).
  std::string Summary() const;

  std::string database() const { return address_.empty() ? folder_ / "hone.db" : address_; }

 private:
  // `kill_after_us` < 0: not killed.
  End Live(const std::vector<std::string>& environment, int64_t kill_after_us);
  std::string acks() const { return folder_ / "acks"; }

  TempFolder folder_;
  const int trials_;
  const int threads_;
  const std::string address_;
};

// "a", "b", "a" -> "a:1", "b:1", "a:2": what HONE_CRASH_AT takes.
std::vector<std::string> Passages(const std::vector<std::string>& points);

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_CRASH_HARNESS_H_
