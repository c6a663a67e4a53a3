#include "measure_server/device_queue.h"

#include <algorithm>

namespace hone::measure {

namespace v1 = hone::v1;

bool Exclude(const v1::Device& a, const v1::Device& b) {
  return std::ranges::find_first_of(a.resources(), b.resources()) != a.resources().end();
}

std::set<std::string> DeviceQueue::Add(const v1::Assignment& assignment, uint64_t turn,
                                       int64_t now_ns) {
  Waiting waiting;
  waiting.job.assignment = assignment;
  waiting.job.candidates.resize(static_cast<size_t>(assignment.candidates_size()));
  waiting.turn = turn;
  waiting.since_ns = now_ns;
  for (const v1::Candidate& candidate : assignment.candidates()) {
    waiting.missing.insert(candidate.artifact_digest());
  }
  for (const v1::Candidate& beside : {assignment.reference(), assignment.anchor()}) {
    if (!beside.artifact_digest().empty()) waiting.missing.insert(beside.artifact_digest());
  }
  std::set<std::string> needed = waiting.missing;
  waiting_.push_back(std::move(waiting));
  return needed;
}

void DeviceQueue::Attach(const std::shared_ptr<const Artifact>& artifact, int64_t now_ns) {
  for (Waiting& waiting : waiting_) {
    if (waiting.missing.erase(artifact->digest()) == 0) continue;
    Job& job = waiting.job;
    for (int i = 0; i < job.assignment.candidates_size(); ++i) {
      if (job.assignment.candidates(i).artifact_digest() == artifact->digest()) {
        job.candidates[static_cast<size_t>(i)] = artifact;
      }
    }
    if (job.assignment.reference().artifact_digest() == artifact->digest()) {
      job.reference = artifact;
    }
    if (job.assignment.anchor().artifact_digest() == artifact->digest()) job.anchor = artifact;
    if (waiting.missing.empty()) job.transfer_ns = now_ns - waiting.since_ns;
  }
}

template <typename Is>
std::vector<v1::Assignment> DeviceQueue::DropWhere(Is is) {
  std::vector<v1::Assignment> dropped;
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (!is(waiting)) return false;
    dropped.push_back(waiting.job.assignment);
    return true;
  });
  return dropped;
}

std::vector<v1::Assignment> DeviceQueue::DropNeeding(const std::string& digest) {
  return DropWhere([&](const Waiting& waiting) { return waiting.missing.count(digest) > 0; });
}

bool DeviceQueue::Drop(int64_t fence) {
  return !DropWhere([&](const Waiting& waiting) {
            return waiting.job.assignment.fence() == fence;
          }).empty();
}

std::vector<v1::Assignment> DeviceQueue::DropAll() {
  return DropWhere([](const Waiting&) { return true; });
}

std::deque<DeviceQueue::Waiting>::const_iterator DeviceQueue::FirstReady() const {
  return std::find_if(waiting_.begin(), waiting_.end(),
                      [](const Waiting& waiting) { return waiting.missing.empty(); });
}

std::optional<uint64_t> DeviceQueue::ReadyTurn() const {
  const auto ready = FirstReady();
  if (ready == waiting_.end()) return std::nullopt;
  return ready->turn;
}

std::vector<Job> DeviceQueue::Ready(size_t count) const {
  std::vector<Job> ready;
  for (const Waiting& waiting : waiting_) {
    if (ready.size() == count) break;
    if (waiting.missing.empty()) ready.push_back(waiting.job);
  }
  return ready;
}

Job DeviceQueue::Begin(int64_t now_ns) {
  const auto ready = FirstReady();
  Job job = ready->job;
  waiting_.erase(ready);
  running_ = job.assignment;
  running_since_ns_ = now_ns;
  is_wanted_ = true;
  return job;
}

bool DeviceQueue::End() {
  running_.reset();
  return is_wanted_;
}

v1::Running DeviceQueue::RunningMessage(int64_t now_ns) const {
  v1::Running message;
  message.set_device(device_.id());
  if (!running_) return message;
  message.set_fence(running_->fence());
  message.set_running_ns(now_ns - running_since_ns_);
  return message;
}

}  // namespace hone::measure
