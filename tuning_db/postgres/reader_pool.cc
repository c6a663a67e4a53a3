#include "tuning_db/postgres/reader_pool.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "support/status.h"

namespace hone::tuning_db::postgres {

absl::Status ReaderPool::Run(const std::function<absl::Status(Connection&)>& query) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + std::chrono::nanoseconds(patience_ns_);
  milliseconds pause(20);
  for (;;) {
    bool is_passing = false;
    absl::Status status = RunOnce(query, is_passing);
    if (!is_passing || steady_clock::now() > end) return status;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, milliseconds(1000));
  }
}

absl::Status ReaderPool::RunOnce(const std::function<absl::Status(Connection&)>& query,
                                 bool& is_passing) {
  std::unique_ptr<Connection> db = Take();
  if (db == nullptr) {
    auto opened = Connection::Open(address_);
    if (!opened.ok()) {
      GiveBack(nullptr);
      is_passing = absl::IsUnavailable(opened.status());
      return opened.status();
    }
    db = *std::move(opened);
  }
  db->ForgetFailure();
  absl::Status status = db->Execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  if (status.ok()) status = query(*db);
  is_passing = db->failure() == Failure::kLost || db->failure() == Failure::kPassing;
  const absl::Status end = db->Execute("ROLLBACK");
  GiveBack(end.ok() ? std::move(db) : nullptr);  // a connection that fails is dropped
  return status;
}

std::unique_ptr<Connection> ReaderPool::Take() {
  std::unique_lock lock(mutex_);
  one_is_free_.wait(lock, [&] { return taken_ < kMostReaders; });
  ++taken_;
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Connection> db = std::move(idle_.back());
  idle_.pop_back();
  return db;
}

void ReaderPool::GiveBack(std::unique_ptr<Connection> db) {
  {
    const std::lock_guard lock(mutex_);
    --taken_;
    if (db != nullptr) idle_.push_back(std::move(db));
  }
  one_is_free_.notify_one();
}

}  // namespace hone::tuning_db::postgres
