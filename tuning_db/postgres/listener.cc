#include "tuning_db/postgres/listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace hone::tuning_db::postgres {
namespace {

constexpr int kPauseMs = 250;
// A server that is gone without a word is found out by keepalives; this is for them.
constexpr int kLongestWaitMs = 60'000;

}  // namespace

Listener::Listener(std::string address, std::function<void(int64_t job)> tell)
    : address_(std::move(address)), tell_(std::move(tell)), stop_(eventfd(0, EFD_CLOEXEC)) {
  std::promise<void> promise;
  std::future<void> begun = promise.get_future();
  thread_ =
      std::thread([this, promise = std::move(promise)]() mutable { Work(std::move(promise)); });
  begun.get();
}

Listener::~Listener() {
  is_stopping_ = true;
  if (stop_ >= 0) eventfd_write(stop_, 1);
  thread_.join();
  if (stop_ >= 0) close(stop_);
}

void Listener::Work(std::promise<void> begun) {
  bool is_first = true;
  bool has_missed = false;
  do {
    auto db = Connection::Open(address_);
    const bool listens = db.ok() && (*db)->Execute(std::string("LISTEN ") + kChannel).ok();
    if (listens && has_missed) tell_(0);
    if (std::exchange(is_first, false)) begun.set_value();
    has_missed = true;
    if (listens) Hear(**db);
  } while (!StopsWithin(kPauseMs, -1));
}

void Listener::Hear(Connection& db) {
  while (!StopsWithin(kLongestWaitMs, db.Socket())) {
    const auto heard = db.Notifications();
    if (!heard.ok()) return;
    for (const std::string& job : *heard) tell_(std::atoll(job.c_str()));
  }
}

bool Listener::StopsWithin(int limit_ms, int socket) const {
  // What is negative is not waited for.
  pollfd waited[2] = {{stop_, POLLIN, 0}, {socket, POLLIN, 0}};
  poll(waited, 2, stop_ >= 0 ? limit_ms : std::min(limit_ms, kPauseMs));
  return is_stopping_;
}

}  // namespace hone::tuning_db::postgres
