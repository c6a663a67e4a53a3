// Group commit: changes that wait at the same time share one transaction. The store decides how a
// batch is run, and what happens if that fails.
#ifndef HONE_TUNING_DB_GROUP_COMMIT_H_
#define HONE_TUNING_DB_GROUP_COMMIT_H_

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "support/crash_point.h"
#include "support/histogram.h"
#include "tuning_db/upkeep.h"

namespace hone::tuning_db {

// Thread-safe. Owns one thread, which runs as one batch all changes that came while it ran the
// batch before.
template <typename Connection>
class GroupCommit {
 public:
  // A step of a transaction. If it returns an error, it alone is undone, and the rest of its batch
  // goes on. Passes the crash points store.NAME.before, store.NAME.before_commit and
  // store.NAME.after_commit.
  struct Change {
    std::string_view name;
    std::function<absl::Status(Connection&)> run;
  };
  // One change of a batch, and where its status goes.
  struct Step {
    const Change* change;
    absl::Status* status;
  };
  using Steps = std::vector<Step>;
  using Done = std::function<void(std::vector<absl::Status>)>;

  // `run_batch` is called on the thread and sets each status. What it uses must outlive this. At
  // most `most_waiting` posted changes may wait.
  GroupCommit(size_t most_waiting, std::function<void(const Steps&)> run_batch)
      : most_waiting_(most_waiting),
        run_batch_(std::move(run_batch)),
        thread_([this] { Work(); }) {}
  // Runs first what still waits.
  ~GroupCommit() {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    something_happened_.notify_all();
    thread_.join();
  }
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Runs the change and returns once it is durable, or has failed.
  absl::Status Commit(Change change) {
    std::promise<absl::Status> promise;
    {
      const std::lock_guard lock(mutex_);
      Enqueue({std::move(change)}, [&promise](std::vector<absl::Status> statuses) {
        promise.set_value(std::move(statuses.at(0)));
      });
    }
    something_happened_.notify_all();
    return promise.get_future().get();
  }

  // Returns at once; the thread runs the changes in one transaction and, once they are durable or
  // have failed, calls `done` with the status of each. kResourceExhausted if too many wait; `done`
  // is then not called.
  absl::Status Post(std::vector<Change> changes, Done done) {
    {
      const std::lock_guard lock(mutex_);
      if (posted_ + changes.size() > most_waiting_) {
        return absl::ResourceExhaustedError(fmt::format(
            "{} changes wait for the tuning database, which takes at most {} at a time; "
            "try again when some are done",
            posted_, most_waiting_));
      }
      const size_t count = changes.size();
      posted_ += count;
      Enqueue(std::move(changes),
              [this, count, done = std::move(done)](std::vector<absl::Status> statuses) {
                {
                  const std::lock_guard release(mutex_);
                  posted_ -= count;
                }
                done(std::move(statuses));
              });
    }
    something_happened_.notify_all();
    return absl::OkStatus();
  }

  CommitTotals totals() const { return {changes_, failed_, seconds_.Read()}; }

  bool IsClosing() const {
    const std::lock_guard lock(mutex_);
    return is_closing_;
  }
  // Called on the thread by `run_batch`: sleeps for `time`, but wakes when closing begins.
  void Pause(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    const bool was_closing = is_closing_;
    something_happened_.wait_for(lock, time, [&] { return is_closing_ && !was_closing; });
  }

  static void PassCrashPoints(const Steps& steps, const char* when) {
    for (const Step& step : steps) PassCrashPoint(*step.change, when);
  }
  static void PassCrashPoint(const Change& change, const char* when) {
    CrashPoint(fmt::format("store.{}.{}", change.name, when));
  }

 private:
  // What was posted together.
  struct Group {
    std::vector<Change> changes;
    std::vector<absl::Status> statuses;
    Done done;
  };

  // The caller holds the mutex.
  void Enqueue(std::vector<Change> changes, Done done) {
    const size_t count = changes.size();
    queue_.push_back({std::move(changes), std::vector<absl::Status>(count), std::move(done)});
  }

  // A transaction has failed if each of its steps has kInternal or kUnavailable. A refused step is
  // not a failure.
  void Count(const Steps& steps, std::chrono::steady_clock::duration time) {
    changes_ += steps.size();
    failed_ += std::ranges::all_of(steps, [](const Step& step) {
      return absl::IsInternal(*step.status) || absl::IsUnavailable(*step.status);
    });
    seconds_.Add(std::chrono::duration<double>(time).count());
  }

  void Work() {
    for (;;) {
      std::vector<Group> batch;
      {
        std::unique_lock lock(mutex_);
        something_happened_.wait(lock, [&] { return is_closing_ || !queue_.empty(); });
        if (queue_.empty()) return;
        batch.swap(queue_);
      }
      Steps steps;
      for (Group& group : batch) {
        for (size_t i = 0; i < group.changes.size(); ++i) {
          steps.push_back({&group.changes[i], &group.statuses[i]});
        }
      }
      const auto begin = std::chrono::steady_clock::now();
      run_batch_(steps);
      Count(steps, std::chrono::steady_clock::now() - begin);
      for (Group& group : batch) group.done(std::move(group.statuses));
    }
  }

  const size_t most_waiting_;
  const std::function<void(const Steps&)> run_batch_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable something_happened_;
  std::vector<Group> queue_;
  size_t posted_ = 0;  // changes that came by Post and are not done
  bool is_closing_ = false;
  std::atomic<uint64_t> changes_ = 0;
  std::atomic<uint64_t> failed_ = 0;
  Histogram seconds_{ShortTimes()};
  std::thread thread_;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_GROUP_COMMIT_H_
