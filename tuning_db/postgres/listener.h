// Hears which jobs have changed, by whichever process.
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

// A connection and a thread of its own.
class Listener {
 public:
  // `tell` is called on the thread, with 0 where something may have been missed: the connection was
  // lost, or could not be made at first. What is committed once the constructor has returned is
  // told.
  Listener(std::string address, std::function<void(int64_t job)> tell);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  void Work(std::promise<void> begun);
  // Until the connection is lost, or it is told to stop.
  void Hear(Connection& db);
  // Whether it is told to stop within that time; what comes on `socket` (-1: nothing) ends the
  // wait.
  bool StopsWithin(int limit_ms, int socket) const;

  const std::string address_;
  const std::function<void(int64_t job)> tell_;
  // Ends a wait: an eventfd. -1 where the process has no descriptor left; waits are short then.
  const int stop_;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_LISTENER_H_
