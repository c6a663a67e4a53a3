#include "bench/load_bench/simulated_worker.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "runtime/module_abi.h"

namespace hone::bench {

namespace v1 = hone::v1;

namespace {

constexpr char kDevice[] = "cpu0";
constexpr char kFingerprint[] = "51a1000000000000000000000000000000000000000000000000000000000000";
constexpr uint32_t kProtocol = 3;
constexpr uint32_t kSamples = 10;

v1::Hello HelloOf(const WorkerOptions& options) {
  v1::Hello hello;
  hello.set_worker(options.name);
  hello.set_build("load_bench");
  hello.set_instance(options.name);
  hello.set_min_protocol(kProtocol);
  hello.set_max_protocol(kProtocol);
  hello.set_artifact_abi(HONE_MODULE_ABI_VERSION);
  v1::Device& device = *hello.add_devices();
  device.set_id(kDevice);
  device.set_target(options.target);
  device.set_threads(1);
  device.set_fingerprint(kFingerprint);
  return hello;
}

// Twenty to a hundred microseconds: as the artifact's digest has it.
double TimeOf(const v1::Candidate& candidate) {
  return 20'000 +
         static_cast<double>(std::hash<std::string>()(candidate.artifact_digest()) % 80'000);
}

v1::MeasureResult ResultOf(const v1::Assignment& assignment) {
  v1::MeasureResult result;
  result.set_fence(assignment.fence());
  result.set_trial(assignment.trial());
  result.set_attempt(assignment.attempt());
  result.set_device(assignment.device());
  result.set_device_fingerprint(kFingerprint);
  if (assignment.has_anchor()) result.set_anchor_ns(TimeOf(assignment.anchor()));
  for (const v1::Candidate& asked : assignment.candidates()) {
    v1::CandidateResult& candidate = *result.add_candidates();
    candidate.set_outcome(v1::MEASURE_OUTCOME_OK);
    candidate.set_artifact_digest(asked.artifact_digest());
    candidate.set_toolchain(asked.toolchain());
    candidate.set_regime(assignment.timing().regime());
    const uint32_t samples = assignment.rounds() > 0 ? assignment.rounds() : kSamples;
    for (uint32_t i = 0; i < samples; ++i) candidate.add_samples_ns(TimeOf(asked) + i);
    candidate.add_calibrator_ns(10'000);
  }
  return result;
}

bool Needs(const v1::Assignment& assignment, const std::string& digest) {
  const auto is_it = [&](const v1::Candidate& asked) { return asked.artifact_digest() == digest; };
  return std::ranges::any_of(assignment.candidates(), is_it) || is_it(assignment.reference()) ||
         is_it(assignment.anchor());
}

// Each worker is a connection of its own, as workers on many machines are.
std::shared_ptr<grpc::Channel> Dial(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

SimulatedWorker::SimulatedWorker(WorkerOptions options, AlarmClock* clock)
    : options_(std::move(options)),
      clock_(clock),
      channel_(Dial(options_.address)),
      stub_(v1::FarmService::NewStub(channel_)) {}

void SimulatedWorker::Start() {
  context_.set_wait_for_ready(true);
  stub_->async()->Work(&context_, this);
  {
    const std::lock_guard lock(mutex_);
    v1::WorkRequest message;
    *message.mutable_hello() = HelloOf(options_);
    Send(std::move(message));
  }
  StartRead(&incoming_);
  AddHold();  // what the alarm clock writes comes outside of the reactor's own calls
  StartCall();
}

void SimulatedWorker::WaitForEnd() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return is_over_; });
}

bool SimulatedWorker::IsWelcome() const {
  const std::lock_guard lock(mutex_);
  return is_welcome_;
}

bool SimulatedWorker::IsOver() const {
  const std::lock_guard lock(mutex_);
  return is_over_;
}

int64_t SimulatedWorker::revoked() const {
  const std::lock_guard lock(mutex_);
  return revoked_;
}

std::vector<Settled> SimulatedWorker::settled() const {
  const std::lock_guard lock(mutex_);
  return settled_;
}

// ---- the stream ----

void SimulatedWorker::OnReadDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = !ok;
    if (ok) Take(incoming_);
  }
  if (!ok) return RemoveHold();
  StartRead(&incoming_);
}

void SimulatedWorker::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  outgoing_.pop_front();
  is_writing_ = false;
  if (ok) WriteNext();
}

void SimulatedWorker::OnDone(const grpc::Status&) {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  ended_.notify_all();
}

void SimulatedWorker::Send(v1::WorkRequest message) {
  outgoing_.push_back(std::move(message));
  WriteNext();
}

void SimulatedWorker::WriteNext() {
  if (is_writing_ || is_closing_ || outgoing_.empty()) return;
  is_writing_ = true;
  StartWrite(&outgoing_.front());
}

// ---- what the daemon says ----

void SimulatedWorker::Take(const v1::WorkResponse& message) {
  switch (message.message_case()) {
    case v1::WorkResponse::kWelcome: {
      is_welcome_ = true;
      v1::WorkRequest window;
      window.mutable_window()->set_device(kDevice);
      window.mutable_window()->set_size(options_.window);
      return Send(std::move(window));
    }
    case v1::WorkResponse::kHeartbeat:
      return SendHeartbeat();
    case v1::WorkResponse::kAssignment:
      return TakeAssignment(message.assignment());
    case v1::WorkResponse::kChunk:
      return TakeChunk(message.chunk());
    case v1::WorkResponse::kAcknowledge: {
      const auto sent = sent_ns_.find(message.acknowledge().fence());
      if (sent == sent_ns_.end()) return;
      settled_.push_back({sent->second, SteadyNs()});
      sent_ns_.erase(sent);
      return;
    }
    case v1::WorkResponse::kRevoke: {
      ++revoked_;
      sent_ns_.erase(message.revoke().fence());
      // What runs is not stopped: it is a bench, and a revocation is counted as a failure of it.
      const auto dropped = std::remove_if(
          assignments_.begin() + (is_measuring_ ? 1 : 0), assignments_.end(),
          [&](const auto& waiting) { return waiting.fence() == message.revoke().fence(); });
      assignments_.erase(dropped, assignments_.end());
      return;
    }
    default:
      return;
  }
}

void SimulatedWorker::TakeAssignment(const v1::Assignment& assignment) {
  assignments_.push_back(assignment);
  FetchAll(assignment);
  BeginNext();
}

void SimulatedWorker::FetchAll(const v1::Assignment& assignment) {
  for (const v1::Candidate& candidate : assignment.candidates()) Fetch(candidate);
  Fetch(assignment.reference());
  Fetch(assignment.anchor());
}

void SimulatedWorker::Fetch(const v1::Candidate& candidate) {
  const std::string& digest = candidate.artifact_digest();
  if (digest.empty() || here_.count(digest) > 0) return;
  if (!bytes_left_.try_emplace(digest, candidate.artifact_bytes()).second) return;
  v1::WorkRequest message;
  message.mutable_fetch()->set_digest(digest);
  Send(std::move(message));
}

void SimulatedWorker::TakeChunk(const v1::ArtifactChunk& chunk) {
  const auto left = bytes_left_.find(chunk.digest());
  if (left == bytes_left_.end()) return;
  left->second -= std::min<uint64_t>(left->second, chunk.data().size());
  if (left->second > 0 && !chunk.missing()) return;
  bytes_left_.erase(left);
  if (chunk.missing()) {
    // The daemon gives up what needs it.
    std::erase_if(assignments_,
                  [&](const auto& waiting) { return Needs(waiting, chunk.digest()); });
    return;
  }
  here_.insert(chunk.digest());
  BeginNext();
}

// ---- measuring ----

bool SimulatedWorker::IsHere(const v1::Assignment& assignment) const {
  const auto is_here = [this](const v1::Candidate& candidate) {
    return candidate.artifact_digest().empty() || here_.count(candidate.artifact_digest()) > 0;
  };
  return std::ranges::all_of(assignment.candidates(), is_here) && is_here(assignment.reference()) &&
         is_here(assignment.anchor());
}

void SimulatedWorker::BeginNext() {
  if (is_measuring_ || assignments_.empty()) return;
  // What was dropped since it was asked for (the default config's, after its own trial) is asked
  // for again.
  if (!IsHere(assignments_.front())) return FetchAll(assignments_.front());
  is_measuring_ = true;
  began_ns_ = SteadyNs();
  SendHeartbeat();
  clock_->At(began_ns_ + options_.measure_ns, [this] { EndMeasurement(); });
}

void SimulatedWorker::EndMeasurement() {
  const std::lock_guard lock(mutex_);
  const v1::Assignment assignment = std::move(assignments_.front());
  assignments_.pop_front();
  is_measuring_ = false;
  // It keeps what tasks share, as hone-measure's cache does.
  for (const v1::Candidate& candidate : assignment.candidates()) {
    here_.erase(candidate.artifact_digest());
  }
  v1::WorkRequest message;
  *message.mutable_result() = ResultOf(assignment);
  sent_ns_[assignment.fence()] = SteadyNs();
  Send(std::move(message));
  BeginNext();
}

void SimulatedWorker::SendHeartbeat() {
  v1::WorkRequest message;
  v1::Running& running = *message.mutable_heartbeat()->add_running();
  running.set_device(kDevice);
  if (is_measuring_) {
    running.set_fence(assignments_.front().fence());
    running.set_running_ns(SteadyNs() - began_ns_);
  }
  Send(std::move(message));
}

}  // namespace hone::bench
