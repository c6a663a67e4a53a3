// What a worker does with what it is assigned.
#include <algorithm>
#include <limits>
#include <utility>

#include "tests/farm_simulator/sim_worker.h"

namespace hone::sim {

namespace v1 = hone::v1;

namespace {

std::set<std::string> ArtifactsOf(const v1::Assignment& assignment) {
  std::set<std::string> digests;
  for (const v1::Candidate& candidate : assignment.candidates()) {
    digests.insert(candidate.artifact_digest());
  }
  for (const v1::Candidate& beside : {assignment.reference(), assignment.anchor()}) {
    if (!beside.artifact_digest().empty()) digests.insert(beside.artifact_digest());
  }
  return digests;
}

v1::MeasureResult LostResult(const v1::Assignment& assignment, const std::string& why) {
  v1::MeasureResult result;
  result.set_fence(assignment.fence());
  result.set_trial(assignment.trial());
  result.set_device(assignment.device());
  result.set_attempt(assignment.attempt());
  for (int i = 0; i < assignment.candidates_size(); ++i) {
    v1::CandidateResult& candidate = *result.add_candidates();
    candidate.set_outcome(v1::MEASURE_OUTCOME_DEVICE_LOST);
    candidate.set_message(why);
    candidate.set_artifact_digest(assignment.candidates(i).artifact_digest());
    candidate.set_toolchain(assignment.candidates(i).toolchain());
  }
  return result;
}

}  // namespace

SimWorker::Device* SimWorker::Find(const std::string& id) {
  const auto it = devices_.find(id);
  return it == devices_.end() ? nullptr : &it->second;
}

void SimWorker::TakeAssignment(const v1::Assignment& assignment) {
  Device* device = Find(assignment.device());
  if (device == nullptr || device->is_gone) {
    Keep(LostResult(assignment, "there is no such device"));
    if (device != nullptr) GiveCredit(*device, 1);
    return;
  }
  device->queue.push_back(assignment);
  for (const std::string& digest : ArtifactsOf(assignment)) {
    if (artifacts_.count(digest) > 0 || !fetching_.insert(digest).second) continue;
    v1::WorkRequest message;
    message.mutable_fetch()->set_digest(digest);
    Send(message);
  }
  Advance();
}

void SimWorker::TakeChunk(const v1::ArtifactChunk& chunk) {
  fetching_.erase(chunk.digest());
  if (!chunk.missing()) {
    artifacts_[chunk.digest()] = chunk.data();  // those of simulations fit into one
    return Advance();
  }
  for (auto& [id, device] : devices_) {
    const size_t dropped = std::erase_if(device.queue, [&](const v1::Assignment& assignment) {
      return ArtifactsOf(assignment).count(chunk.digest()) > 0;
    });
    GiveCredit(device, static_cast<int>(dropped));
  }
  Advance();
}

void SimWorker::TakeRevoke(int64_t fence) {
  held_.erase(fence);
  for (auto& [id, device] : devices_) {
    const size_t dropped = std::erase_if(
        device.queue, [&](const v1::Assignment& queued) { return queued.fence() == fence; });
    GiveCredit(device, static_cast<int>(dropped));
    if (!device.run || device.run->assignment.fence() != fence) continue;
    EndRun(device, kLost, {});
    GiveCredit(device, 1);
  }
  Advance();
}

bool SimWorker::HasArtifacts(const v1::Assignment& assignment) const {
  const std::set<std::string> digests = ArtifactsOf(assignment);
  return std::all_of(digests.begin(), digests.end(),
                     [&](const auto& digest) { return artifacts_.count(digest) > 0; });
}

bool SimWorker::IsBusyBeside(const Device& device) const {
  if (!traits_.shares_cores || traits_.crowds) return device.run.has_value();
  return std::any_of(devices_.begin(), devices_.end(),
                     [](const auto& item) { return item.second.run.has_value(); });
}

void SimWorker::Advance() {
  for (auto& [id, device] : devices_) {
    if (device.queue.empty() || IsBusyBeside(device)) continue;
    if (HasArtifacts(device.queue.front())) Begin(device);
  }
}

void SimWorker::Begin(Device& device) {
  Run run{device.queue.front(), Now(), static_cast<int64_t>(history_->size())};
  device.queue.pop_front();
  device.run = run;
  const v1::Assignment& assignment = run.assignment;
  history_->push_back(
      {.at_ns = queue_->now_ns(),
       .what = What::kRunBegin,
       .trial = assignment.trial(),
       .fence = assignment.fence(),
       .worker = traits_.name,
       .device = device.info.id(),
       .text = instance_,
       .resources = {device.info.resources().begin(), device.info.resources().end()}});
  // A worker that goes down has said what took it.
  if (protocol_ >= 3) SendHeartbeat();
  const int64_t least = traits_.measure_ns / 2;
  const int64_t candidates = std::max(assignment.candidates_size(), 1);
  const int64_t takes_ns = candidates * queue_->Between(least, 3 * least);
  if (traits_.lethal.count(assignment.trial()) > 0) {
    queue_->After(takes_ns, life_, [this] {
      Note(Fault::kLethal);
      Kill();
    });
    return;
  }
  ++measured_;
  if (traits_.hangs_after && measured_ > *traits_.hangs_after) return Note(Fault::kHangs);
  queue_->After(takes_ns, life_,
                [this, id = device.info.id(), serial = run.serial] { Finish(id, serial); });
}

void SimWorker::Finish(const std::string& id, int64_t serial) {
  Device* device = Find(id);
  if (device == nullptr || !device->run || device->run->serial != serial) return;
  const v1::Assignment assignment = device->run->assignment;
  v1::MeasureResult result;
  std::string how = kHonest;
  if (device->is_gone || queue_->IsTrue(traits_.lost_share)) {
    how = kLost;
    result = LostResult(assignment, "it fell off the bus");
    Note(Fault::kDevices);
  } else {
    std::vector<std::string> artifacts;
    for (const v1::Candidate& candidate : assignment.candidates()) {
      artifacts.push_back(artifacts_[candidate.artifact_digest()]);
    }
    result = measure_(assignment, artifacts, serial);
    result.set_device(assignment.device());
    result.set_attempt(assignment.attempt());
    result.set_device_fingerprint(device->info.fingerprint());
    if (traits_.lies) how = Lie(result);
  }
  Echo echo;
  if (result.candidates_size() > 0 && result.candidates(0).samples_ns_size() > 0) {
    echo.sample_ns = result.candidates(0).samples_ns(0);
  }
  EndRun(*device, how, echo);
  Keep(result);
  GiveCredit(*device, 1);
  Advance();
  LeaveIfDone();
}

void SimWorker::EndRun(Device& device, const std::string& how, const Echo& echo) {
  const v1::Assignment assignment = std::exchange(device.run, std::nullopt)->assignment;
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kRunEnd,
                       .trial = assignment.trial(),
                       .fence = assignment.fence(),
                       .worker = traits_.name,
                       .device = device.info.id(),
                       .text = how,
                       .echo = echo});
}

void SimWorker::Keep(const v1::MeasureResult& result) {
  held_[result.fence()] = result;
  v1::WorkRequest message;
  *message.mutable_result() = result;
  Send(message);
}

void SimWorker::Note(Fault fault) {
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kFault,
                       .worker = traits_.name,
                       .text = std::string(Name(fault))});
}

std::string SimWorker::Lie(v1::MeasureResult& result) {
  Note(Fault::kLies);
  const auto other = [&](int64_t than) {
    const int64_t some = queue_->Between(1, than + 2);
    return some < than ? some : some + 1;
  };
  v1::CandidateResult& first = *result.mutable_candidates(0);
  const auto invent = [&](double sample) {
    first.set_outcome(v1::MEASURE_OUTCOME_OK);
    first.clear_samples_ns();
    first.add_samples_ns(sample);
  };
  switch (queue_->random().Below(10)) {
    case 0:
      result.set_fence(other(result.fence()));
      return "another fence";
    case 1:
      result.set_trial(other(result.trial()));
      return "another trial";
    case 2:
      first.set_artifact_digest("an artifact that nobody built");
      return "another artifact";
    case 3:
      first.set_toolchain("another compiler");
      return "another toolchain";
    case 4:
      first.set_regime("another regime");
      return "another regime";
    case 5:
      result.set_device_fingerprint("another machine");
      return "another fingerprint";
    case 6:
      invent(-1);
      return "a time below zero";
    case 7:
      invent(std::numeric_limits<double>::infinity());
      return "a time that is not finite";
    case 8:
      invent(static_cast<double>(kHour));
      return "a run that takes longer than the lease is old";
    default:
      *result.add_candidates() = first;
      return "a candidate too many";
  }
}

void SimWorker::SendDeviceUpdate(const Device& device) {
  if (protocol_ < 3) return;
  v1::WorkRequest message;
  v1::DeviceUpdate& update = *message.mutable_device_update();
  *update.mutable_device() = device.info;
  update.set_unplugged(device.is_gone);
  Send(message);
}

void SimWorker::SendDeviceChanges() {
  for (auto& [id, device] : devices_) {
    if (protocol_ < 3 || device.is_gone == device.was_gone) continue;
    SendDeviceUpdate(device);
    if (device.is_gone && device.run) EndRun(device, kLost, {});
  }
}

void SimWorker::Unplug() {
  if (!is_up() || devices_.empty()) return;
  Device& device = devices_.begin()->second;
  if (device.is_gone) return;
  device.is_gone = true;
  SendDeviceUpdate(device);
  if (protocol_ < 3) return;  // what it was given is answered as lost, one by one
  device.queue.clear();
  if (device.run) EndRun(device, kLost, {});
  Advance();
}

void SimWorker::Replug() {
  if (!is_up() || devices_.empty()) return;
  Device& device = devices_.begin()->second;
  if (!device.is_gone) return;
  device.is_gone = false;
  SendDeviceUpdate(device);
  GiveWindow(device);
}

}  // namespace hone::sim
