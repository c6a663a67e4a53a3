// What a daemon writes, step by step, and what must be there once a step was acknowledged.
#ifndef HONE_TESTS_TUNING_DB_FAULT_SCRIPT_H_
#define HONE_TESTS_TUNING_DB_FAULT_SCRIPT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tuning_db/store.h"

namespace hone::tuning_db {

class FaultScript {
 public:
  explicit FaultScript(std::string path) : path_(std::move(path)) {}

  // Opens the database, makes every change, some of them between two openings, and closes it. A
  // step that fails is passed over.
  void Run();
  // Opens it anew: everything that was acknowledged is there, and nothing is unsound.
  void ExpectAcknowledged() const;
  int acknowledged() const { return acknowledged_; }

 private:
  std::unique_ptr<Store> Open() const;
  void Begin(Store& store);
  void Measure(Store& store);
  void End(Store& store);
  void SettleAll(Store& store);
  // Notes an acknowledged change.
  bool Acknowledge(bool is_ok) {
    acknowledged_ += is_ok ? 1 : 0;
    return is_ok;
  }

  const std::string path_;
  int acknowledged_ = 0;
  // What was acknowledged; 0 and empty: nothing.
  int64_t epoch_ = 0;
  int64_t task_ = 0;
  int64_t job_ = 0;
  JobState state_ = JobState::kQueued;
  int64_t ran_ns_ = 0;
  std::vector<Trial> proposed_;
  std::map<int64_t, int64_t> fences_;  // newest acknowledged, by trial
  std::map<int64_t, SettleResult> settled_;
  int64_t strikes_ = 0;
  int64_t final_ = 0;
  bool has_rest_ = false;
  bool has_miss_ = false;
  bool has_retraction_ = false;
};

}  // namespace hone::tuning_db

#endif  // HONE_TESTS_TUNING_DB_FAULT_SCRIPT_H_
