#include "tuner/jobs/build_queue.h"

#include <algorithm>
#include <utility>

namespace hone::tuner {

hone::v1::BuildBatch BuildQueue::TakeBatch(int size, const Filter& filter) {
  hone::v1::BuildBatch batch;
  const uint64_t batch_id = next_id_;
  for (auto it = waiting_.begin(); it != waiting_.end() && batch.requests_size() < size;) {
    if (!filter(it->key)) {
      ++it;
      continue;
    }
    const uint64_t id = next_id_++;
    it->request.set_id(id);
    *batch.add_requests() = it->request;
    building_[id] = {std::move(*it), batch_id};
    it = waiting_.erase(it);
  }
  if (batch.requests_size() > 0) left_of_batch_[batch_id] = batch.requests_size();
  return batch;
}

std::optional<BuildItem> BuildQueue::Answered(uint64_t id) {
  const auto it = building_.find(id);
  if (it == building_.end()) return std::nullopt;
  Building answered = std::move(it->second);
  building_.erase(it);
  if (--left_of_batch_[answered.batch] == 0) left_of_batch_.erase(answered.batch);
  if (answered.is_dropped) return std::nullopt;
  return std::move(answered.item);
}

void BuildQueue::Drop(const TaskKey& key) {
  std::erase_if(waiting_, [&](const BuildItem& item) { return item.key == key; });
  for (auto& [id, building] : building_) building.is_dropped |= building.item.key == key;
}

bool BuildQueue::HasWaiting(const Filter& filter) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const BuildItem& item) { return filter(item.key); });
}

}  // namespace hone::tuner
