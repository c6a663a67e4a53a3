// Hears which jobs have changed, whichever process changed them.
#ifndef HONE_TUNING_DB_POSTGRES_LISTENER_H_
#define HONE_TUNING_DB_POSTGRES_LISTENER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "tuning_db/postgres/connection.h"

namespace hone::tuning_db::postgres {

// The channel on which transactions that change a job send its id (NOTIFY).
inline constexpr char kChannel[] = "hone";

// Owns a connection and a thread.
class Listener {
 public:
  // Calls `tell` on the thread with each job that has changed, and with 0 if changes may have been
  // missed because the connection was lost or could not be made at first. Everything that is
  // committed after the constructor has returned is told.
  Listener(std::string address, std::function<void(int64_t job)> tell);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  void Work(std::promise<void> begun);
  // Returns when the connection is lost, or when the listener is to stop.
  void Hear(Connection& db);
  // Waits up to `limit_ms`, or until `socket` (-1: none) is readable. Returns whether to stop.
  bool StopsWithin(int limit_ms, int socket) const;

  const std::string address_;
  const std::function<void(int64_t job)> tell_;
  // An eventfd that ends a wait; -1 if the process had no descriptor left, and waits are then
  // short.
  const int stop_;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_LISTENER_H_
