#include "tests/tuner/fakes.h"

#include <algorithm>
#include <regex>
#include <utility>

#include "runtime/module_abi.h"
#include "support/digest.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using schedule::Config;
using schedule::Knob;
using schedule::Space;

bool ManualExecutor::RunOne() {
  if (queue_.empty()) return false;
  const std::function<void()> work = std::move(queue_.front());
  queue_.pop_front();
  work();
  return true;
}

void Gate::Post(std::function<void()> work) {
  if (!is_closed) return behind_->Post(std::move(work));
  held_.push_back(std::move(work));
}

bool Gate::LetOneThrough() {
  if (held_.empty()) return false;
  behind_->Post(std::move(held_.front()));
  held_.pop_front();
  return true;
}

void Gate::Open() {
  is_closed = false;
  while (LetOneThrough()) {
  }
}

namespace {

bool Contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

uint64_t Hash(const std::string& text) {
  return std::stoull(Sha256Hex(text).substr(0, 15), nullptr, 16);
}

Space FakeSpace(const std::string& workload) {
  const int knobs = Contains(workload, "tiny") ? 1 : 9;
  return Space([knobs](const Config& prefix) -> std::optional<Knob> {
    const int next = static_cast<int>(prefix.entries().size());
    if (next == knobs) return std::nullopt;
    Knob knob{"k" + std::to_string(next), {int64_t{0}, int64_t{1}}, std::nullopt};
    if (next == 8) knob.legacy_value = int64_t{0};
    return knob;
  });
}

class FakeTask : public TaskContext {
 public:
  FakeTask(std::string workload, int default_index)
      : workload_(std::move(workload)), space_(FakeSpace(workload_)) {
    default_ = space_.Enumerate(default_index + 1).back();
    if (Contains(workload_, "default_of_before")) {
      Config before;  // the knob that has a legacy value
      for (const auto& [name, value] : default_.entries()) {
        if (name != "k8") before.Set(name, value);
      }
      default_ = before;
    }
  }
  const Space& space() const override { return space_; }
  const Config& default_config() const override { return default_; }
  int64_t constant_bytes() const override { return Contains(workload_, "weights") ? 2 << 20 : 0; }
  Caches caches() const override { return {1 << 20, 32 << 20}; }
  int threads() const override { return Contains(workload_, "two_threads") ? 2 : 1; }
  absl::StatusOr<LoweredCandidate> Lower(const Config& config) const override {
    const std::optional<Config> migrated = space_.Migrate(config);
    if (!migrated) return absl::InvalidArgumentError("no config of the space");
    LoweredCandidate lowered;
    Config same = *migrated;
    if (config.Has("k8") && config.Int("k0") == 0) same.Set("k8", int64_t{0});
    lowered.nest_digest = Sha256Hex(workload_ + same.ToText());
    return lowered;
  }

 private:
  const std::string workload_;
  const Space space_;
  Config default_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const TaskContext>> FakeLowerer::Open(const std::string& workload,
                                                                     const std::string&,
                                                                     const std::string&) {
  ++opened;
  if (workload.rfind("bad", 0) == 0) {
    return absl::InvalidArgumentError("expected a workload, found \"" + workload + "\"");
  }
  return std::make_shared<FakeTask>(workload, default_index);
}

bool FakeLowerer::IsCompatible(const std::string& target, const std::string& other) const {
  static const std::regex cpu(" -mcpu=[^ ]*");
  return std::regex_replace(target, cpu, "") == std::regex_replace(other, cpu, "");
}

std::vector<Config> FakeSearch::NextBatch(const SearchState& state, int count) {
  std::set<std::string> seen;
  uint64_t seed = state.seed;
  for (const SettledTrial& trial : state.settled) {
    seen.insert(trial.config.ToText());
    seed += static_cast<uint64_t>(trial.relative_time * 1e6);
  }
  for (const Config& config : state.open) seen.insert(config.ToText());
  std::vector<Config> left = state.task->space().Enumerate(1 << 12);
  std::erase_if(left, [&](const Config& config) { return seen.count(config.ToText()) > 0; });
  Random random(seed);
  random.Shuffle(left);
  if (left.size() > static_cast<size_t>(count)) left.resize(static_cast<size_t>(count));
  return left;
}

FakeOutcome OutcomeOf(const std::string& workload, const std::string& config) {
  FakeOutcome outcome;
  const uint64_t hash = Hash(workload + config);
  outcome.ns = 20'000 + static_cast<double>(hash % 80'000);
  const bool is_default = !Contains(config, ":1");
  if (is_default) {
    if (Contains(workload, "default_fails")) outcome.measure = v1::MEASURE_OUTCOME_WRONG_OUTPUT;
    return outcome;
  }
  if (hash % 11 == 0) outcome.build = v1::BUILD_OUTCOME_BUILD_ERROR;
  if (hash % 13 == 0) outcome.measure = v1::MEASURE_OUTCOME_WRONG_OUTPUT;
  if (hash % 17 == 0) outcome.measure = v1::MEASURE_OUTCOME_CRASH;
  return outcome;
}

v1::BuildReply FakeBuild(const v1::BuildRequest& request) {
  v1::BuildReply reply;
  reply.set_id(request.id());
  reply.set_outcome(v1::BUILD_OUTCOME_OK);
  reply.set_toolchain("fake 1");
  reply.set_kind(v1::ARTIFACT_KIND_ELF);
  std::string artifact = "reference";
  if (request.has_candidate()) {
    artifact = request.candidate().workload() + "\n" + request.candidate().config();
    reply.set_outcome(
        OutcomeOf(request.candidate().workload(), request.candidate().config()).build);
  }
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) {
    reply.set_message("does not build");
    return reply;
  }
  reply.set_artifact(artifact);
  reply.set_artifact_digest(Sha256Hex(artifact));
  return reply;
}

void FakeBuilder::Build(const v1::BuildBatch& batch, BuildCallback done) {
  executor_->Post([this, batch, done] {
    for (const v1::BuildRequest& request : batch.requests()) {
      if (is_broken || (fail_every > 0 && ++asked_ % fail_every == 0)) {
        done(request.id(), absl::UnavailableError("no builder"));
        continue;
      }
      ++built;
      done(request.id(), FakeBuild(request));
    }
  });
}

v1::MeasureResult FakeMeasure(const v1::Assignment& assignment,
                              const std::vector<std::string>& artifacts) {
  v1::MeasureResult result;
  result.set_fence(assignment.fence());
  result.set_trial(assignment.trial());
  result.set_device(assignment.device());
  result.set_attempt(assignment.attempt());
  result.set_device_fingerprint(kFakeFingerprint);
  if (assignment.has_anchor()) result.set_anchor_ns(kFakeAnchorNs);
  for (const std::string& artifact : artifacts) {
    const int at = result.candidates_size();
    const v1::Candidate asked =
        at < assignment.candidates_size() ? assignment.candidates(at) : v1::Candidate();
    const size_t line = artifact.find('\n');
    const FakeOutcome outcome = OutcomeOf(artifact.substr(0, line), artifact.substr(line + 1));
    v1::CandidateResult& candidate = *result.add_candidates();
    candidate.set_outcome(outcome.measure);
    candidate.set_artifact_digest(asked.artifact_digest());
    candidate.set_toolchain(asked.toolchain());
    candidate.set_regime(assignment.timing().regime());
    if (outcome.measure != v1::MEASURE_OUTCOME_OK) {
      candidate.set_message("fails");
      continue;
    }
    const uint32_t samples = std::max(1u, assignment.rounds());
    for (uint32_t i = 0; i < samples; ++i) candidate.add_samples_ns(outcome.ns + i);
    candidate.add_calibrator_ns(10'000);
  }
  return result;
}

MeasureRequest FakeRequest(const tuning_db::Trial& trial) {
  MeasureRequest request;
  request.trial = trial;
  request.target = kFakeTarget;
  request.candidates.push_back({"digest", std::make_shared<const std::string>("conv\n{}"), ""});
  request.timing.set_regime("warm");
  return request;
}

// ---- the worker ----

class FakeWorker::Link : public WorkerLink {
 public:
  explicit Link(FakeWorker* worker) : worker_(worker) {}
  void Send(v1::WorkResponse message) override {
    if (worker_ != nullptr) worker_->OnMessage(message);
  }
  void Close(absl::Status status) override {
    if (worker_ == nullptr) return;
    worker_->closed = std::move(status);
    worker_->link_ = nullptr;
    worker_ = nullptr;
  }
  void Cut() { worker_ = nullptr; }
  std::string identity() const override { return worker_ == nullptr ? "" : worker_->identity; }

 private:
  FakeWorker* worker_;
};

v1::Hello FakeWorker::HelloMessage() const {
  v1::Hello hello;
  hello.set_worker(name_);
  hello.set_build("fake");
  hello.set_instance(instance);
  hello.set_min_protocol(2);
  hello.set_max_protocol(protocol);
  hello.set_artifact_abi(HONE_MODULE_ABI_VERSION);
  for (const std::string& id : devices_) *hello.add_devices() = DeviceMessage(id);
  for (const auto& [fence, result] : held) hello.add_held_fences(fence);
  return hello;
}

v1::Device FakeWorker::DeviceMessage(const std::string& id) const {
  v1::Device device;
  device.set_id(id);
  device.set_target(target);
  device.set_threads(2);
  device.set_fingerprint(fingerprint);
  device.set_calibrator_ns(calibrator_ns);
  if (!resource_.empty()) device.add_resources(resource_);
  return device;
}

void FakeWorker::AddDevice(const std::string& id, const std::string& resource) {
  devices_.push_back(id);
  resource_ = resource;
}

void FakeWorker::Send(const v1::WorkRequest& message) { dispatcher_->Receive(link_, message); }

void FakeWorker::SendUpdate(const std::string& device, bool unplugged, v1::SandboxLevel sandbox) {
  v1::WorkRequest message;
  v1::DeviceUpdate& update = *message.mutable_device_update();
  *update.mutable_device() = DeviceMessage(device);
  update.mutable_device()->set_sandbox(sandbox);
  update.set_unplugged(unplugged);
  if (unplugged) update.set_reason("its cable was pulled");
  dispatcher_->Receive(link_, message);
  if (!unplugged) return;
  running_ = 0;
  std::erase_if(assignments, [&](const auto& a) { return a.device() == device; });
}

void FakeWorker::Connect() {
  link_ = std::make_shared<Link>(this);
  v1::WorkRequest hello;
  *hello.mutable_hello() = HelloMessage();
  dispatcher_->Opened(link_);
  dispatcher_->Receive(link_, hello);
  for (const auto& [fence, result] : held) {
    v1::WorkRequest message;
    *message.mutable_result() = result;
    dispatcher_->Receive(link_, message);
  }
  // It need not wait for Welcome: what the daemon does not speak is ignored.
  GiveCredit(credit_);
  for (const std::string& device : devices_) SendWindow(device);
}

void FakeWorker::Disconnect(bool dies) {
  if (link_ == nullptr) return;
  link_->Cut();
  dispatcher_->Closed(link_);
  link_ = nullptr;
  running_ = 0;
  assignments.clear();
  if (dies) held.clear();
}

void FakeWorker::OnMessage(const v1::WorkResponse& message) {
  received.push_back(message);
  if (message.has_assignment()) assignments.push_back(message.assignment());
  if (message.has_welcome()) welcomed_to = message.welcome().protocol();
  if (message.has_heartbeat() && !is_mute) SendHeartbeat();
  if (message.has_chunk()) artifacts_[message.chunk().digest()] += message.chunk().data();
  if (message.has_acknowledge()) held.erase(message.acknowledge().fence());
  if (message.has_revoke()) {
    held.erase(message.revoke().fence());
    if (running_ == message.revoke().fence()) running_ = 0;
    const size_t dropped = std::erase_if(
        assignments, [&](const auto& a) { return a.fence() == message.revoke().fence(); });
    if (dropped > 0) GiveCredit(1);
  }
}

void FakeWorker::GiveCredit(int count) {
  v1::WorkRequest message;
  message.mutable_credit()->set_device("cpu0");
  message.mutable_credit()->set_count(static_cast<uint32_t>(count));
  dispatcher_->Receive(link_, message);
}

void FakeWorker::SendWindow(const std::string& device) {
  v1::WorkRequest message;
  message.mutable_window()->set_device(device);
  message.mutable_window()->set_size(static_cast<uint32_t>(credit_));
  dispatcher_->Receive(link_, message);
}

void FakeWorker::SendHeartbeat() {
  v1::WorkRequest message;
  message.mutable_heartbeat();
  if (protocol >= 3) {
    v1::Running& running = *message.mutable_heartbeat()->add_running();
    const bool runs = running_ != 0 && !assignments.empty();
    running.set_device(runs ? assignments.front().device() : devices_.front());
    running.set_fence(running_);
  }
  dispatcher_->Receive(link_, message);
}

void FakeWorker::Begin() {
  running_ = assignments.front().fence();
  if (!is_mute) SendHeartbeat();
}

void FakeWorker::AskFor(const std::string& digest) {
  v1::WorkRequest fetch;
  fetch.mutable_fetch()->set_digest(digest);
  dispatcher_->Receive(link_, fetch);
}

bool FakeWorker::Fetch(const v1::Assignment& assignment) {
  bool is_here = true;
  for (const v1::Candidate& candidate : assignment.candidates()) {
    if (artifacts_.count(candidate.artifact_digest()) > 0) continue;
    is_here = false;
    AskFor(candidate.artifact_digest());
  }
  return is_here;
}

bool FakeWorker::RunOne() {
  if (link_ == nullptr || assignments.empty()) return false;
  const v1::Assignment assignment = assignments.front();
  if (!Fetch(assignment)) return true;
  if (running_ != assignment.fence()) Begin();
  running_ = 0;
  assignments.pop_front();
  ran.push_back(assignment);
  ++runs;
  if (lethal_trials.count(assignment.trial()) > 0) {
    Disconnect(true);
    return true;
  }
  std::vector<std::string> artifacts;
  for (const v1::Candidate& candidate : assignment.candidates()) {
    artifacts.push_back(artifacts_[candidate.artifact_digest()]);
  }
  v1::MeasureResult result = FakeMeasure(assignment, artifacts);
  result.set_device_fingerprint(fingerprint);
  if (device_lost || losing_trials.count(assignment.trial()) > 0) {
    for (v1::CandidateResult& candidate : *result.mutable_candidates()) {
      candidate.Clear();
      candidate.set_outcome(v1::MEASURE_OUTCOME_DEVICE_LOST);
      candidate.set_message("it fell off the bus");
    }
  }
  if (tamper) tamper(assignment, result);
  held[result.fence()] = result;
  SendResult(result);
  GiveCredit(1);
  return true;
}

void FakeWorker::SendResult(const v1::MeasureResult& result) {
  if (is_mute) return;
  sent.push_back(result);
  v1::WorkRequest message;
  *message.mutable_result() = result;
  dispatcher_->Receive(link_, message);
}

}  // namespace hone::tuner
