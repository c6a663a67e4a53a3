#include "tuning_db/subscribers.h"

#include <utility>

namespace hone::tuning_db {

class Subscribers::Entry final : public Subscription {
 public:
  Entry(Subscribers* subscribers, int64_t id) : subscribers_(subscribers), id_(id) {}
  ~Entry() override {
    const std::lock_guard lock(subscribers_->mutex_);
    subscribers_->callbacks_.erase(id_);
  }

 private:
  Subscribers* const subscribers_;
  const int64_t id_;
};

std::unique_ptr<Subscription> Subscribers::Add(std::function<void(const Change&)> on_change) {
  const std::lock_guard lock(mutex_);
  callbacks_[++last_] = std::move(on_change);
  return std::make_unique<Entry>(this, last_);
}

void Subscribers::Tell(const Change& change) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, on_change] : callbacks_) on_change(change);
}

}  // namespace hone::tuning_db
