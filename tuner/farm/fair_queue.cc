#include "tuner/farm/fair_queue.h"

#include <algorithm>
#include <utility>

#include "runtime/target_text.h"
#include "tuner/priority_weight.h"

namespace hone::tuner {
namespace {

// A target whose devices were all busy while others' were not has no claim to make up for more.
constexpr uint64_t kMostBehind = 16;

}  // namespace

void JobTurns::Push(Entry entry) {
  const int64_t job = entry->request.job;
  const auto found = std::ranges::find_if(
      jobs_, [job](const auto& entries) { return entries.front()->request.job == job; });
  std::deque<Entry>& entries = found == jobs_.end() ? jobs_.emplace_back() : *found;
  entries.push_back(std::move(entry));
}

JobTurns::Entry JobTurns::Pop() {
  std::deque<Entry> entries = std::move(jobs_.front());
  jobs_.pop_front();
  Entry entry = std::move(entries.front());
  entries.pop_front();
  if (!entries.empty()) jobs_.push_back(std::move(entries));
  return entry;
}

JobTurns::Entry JobTurns::Remove(int64_t trial) {
  for (auto entries = jobs_.begin(); entries != jobs_.end(); ++entries) {
    const auto found = std::ranges::find_if(
        *entries, [trial](const Entry& entry) { return entry->request.trial.id == trial; });
    if (found == entries->end()) continue;
    Entry entry = std::move(*found);
    entries->erase(found);
    if (entries->empty()) jobs_.erase(entries);
    return entry;
  }
  return nullptr;
}

size_t JobTurns::size() const {
  size_t count = 0;
  for (const auto& entries : jobs_) count += entries.size();
  return count;
}

void FairQueue::Push(Entry entry) {
  const auto [it, is_new] = waiting_.try_emplace(entry->request.submitter);
  Submitter& submitter = it->second;
  if (is_new) {
    submitter.turn = now_;
    const auto ahead = ahead_.find(it->first);
    if (ahead != ahead_.end()) {
      submitter.turn = std::max(now_, ahead->second);
      ahead_.erase(ahead);
    }
  }
  // What went cheaply before is not waited for by what is worth more.
  submitter.turn = std::min(submitter.turn, now_ + 1 / PriorityWeight(entry->request.priority));
  submitter.by_priority[entry->request.priority].Push(std::move(entry));
}

FairQueue::Entry FairQueue::Pop() {
  const auto next =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [](const auto& a, const auto& b) { return a.second.turn < b.second.turn; });
  Submitter& submitter = next->second;
  const auto first = submitter.by_priority.begin();
  Entry entry = first->second.Pop();
  now_ = submitter.turn;
  submitter.turn += 1 / PriorityWeight(first->first);
  if (first->second.empty()) submitter.by_priority.erase(first);
  if (submitter.by_priority.empty()) {
    std::erase_if(ahead_, [this](const auto& item) { return item.second <= now_; });
    ahead_[next->first] = submitter.turn;
    waiting_.erase(next);
  }
  return entry;
}

FairQueue::Entry FairQueue::Remove(int64_t trial) {
  for (auto submitter = waiting_.begin(); submitter != waiting_.end(); ++submitter) {
    auto& by_priority = submitter->second.by_priority;
    for (auto level = by_priority.begin(); level != by_priority.end(); ++level) {
      Entry entry = level->second.Remove(trial);
      if (entry == nullptr) continue;
      if (level->second.empty()) by_priority.erase(level);
      if (by_priority.empty()) {
        ahead_[submitter->first] = submitter->second.turn;
        waiting_.erase(submitter);
      }
      return entry;
    }
  }
  return nullptr;
}

size_t FairQueue::size() const {
  size_t count = 0;
  for (const auto& [name, submitter] : waiting_) {
    for (const auto& [priority, jobs] : submitter.by_priority) count += jobs.size();
  }
  return count;
}

void TargetQueues::Push(FairQueue::Entry entry) {
  OfTarget& target = targets_[entry->request.Need()];
  if (target.queue.empty()) target.turn = std::max(target.turn, now_);
  target.queue.Push(std::move(entry));
}

FairQueue::Entry TargetQueues::PopNext(
    const std::function<bool(const DeviceNeed& need)>& has_room) {
  OfTarget* next = nullptr;
  for (auto& [need, target] : targets_) {
    if (target.queue.empty() || (next != nullptr && target.turn >= next->turn)) continue;
    if (has_room(need)) next = &target;
  }
  if (next == nullptr) return nullptr;
  now_ = std::max(now_, next->turn);
  next->turn = std::max(next->turn, now_ - std::min(now_, kMostBehind)) + 1;
  FairQueue::Entry entry = next->queue.Pop();
  // An empty queue whose turn is past says nothing any more.
  std::erase_if(targets_, [this](const auto& item) {
    return item.second.queue.empty() && item.second.turn <= now_;
  });
  return entry;
}

FairQueue::Entry TargetQueues::Remove(int64_t trial) {
  for (auto& [name, target] : targets_) {
    if (FairQueue::Entry entry = target.queue.Remove(trial)) return entry;
  }
  return nullptr;
}

size_t TargetQueues::size() const {
  size_t count = 0;
  for (const auto& [name, target] : targets_) count += target.queue.size();
  return count;
}

std::map<std::string, size_t> TargetQueues::SizesByKind() const {
  std::map<std::string, size_t> sizes = {{"llvm", 0}, {"cuda", 0}, {"opencl", 0}};
  for (const auto& [need, target] : targets_) {
    const auto of_kind = sizes.find(std::string(KindOf(need.target)));
    if (of_kind != sizes.end()) of_kind->second += target.queue.size();
  }
  return sizes;
}

}  // namespace hone::tuner
