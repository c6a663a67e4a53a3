#include "measure_server/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "measure_server/measured_cores.h"
#include "support/clock.h"
#include "support/median.h"

namespace hone::measure {
namespace {

constexpr const char* kUnexpected = "its process says what it was not asked";

}  // namespace

void Candidate::Start() {
  const int64_t start_ns = Clock::Real().NowNs();
  if (!Launch(context_.reference != nullptr)) return;
  const int64_t described_ns = Clock::Real().NowNs();
  report_->sandbox_ns = described_ns - start_ns;
  if (context_.reference != nullptr) CheckOutputs();
  report_->check_ns = Clock::Real().NowNs() - described_ns;
  if (!is_over()) AwaitReady();
}

bool Candidate::Launch(bool is_checked) {
  stage_ = RunStage::kStarting;
  if (const auto ahead = TakeAhead()) {
    process_.TakeOver(ahead->process);
    process_.Command(Command::kBegin);
    return TakeDescription(ahead->shared.fd());
  }
  const SharedFile shared;
  if (shared.fd() < 0) {
    End(RunOutcome::kDeviceLost, fmt::format("shared memory: {}", std::strerror(errno)));
    return false;
  }
  const auto failure = process_.Start([&](int fd) { RunAsChild(fd, shared.fd(), is_checked); });
  if (failure) {
    End(failure->outcome, failure->message);
    return false;
  }
  if (context_.request.kind != RunRequest::kMeasure) {
    if (Expect(Word::kDone)) End(RunOutcome::kOk, "");
    return false;
  }
  return TakeDescription(shared.fd());
}

std::unique_ptr<AheadCandidate> Candidate::TakeAhead() const {
  if (context_.ahead == nullptr || context_.request.kind != RunRequest::kMeasure) return nullptr;
  return context_.ahead->Take(context_.request.lease, artifact_fd_);
}

void Candidate::RunAsChild(int control_fd, int shared_fd, bool is_checked) const {
  ChildSetup setup;
  setup.request = context_.request;
  setup.request.has_reference = is_checked ? 1 : 0;
  setup.place = &context_.place;
  setup.artifact_fd = artifact_fd_;
  setup.reference_fd = context_.reference_fd;
  setup.shared_fd = shared_fd;
  setup.control_fd = control_fd;
  if (context_.request.kind == RunRequest::kReference) RunReferenceChild(setup);
  if (context_.request.kind == RunRequest::kOpening) RunOpeningChild(setup);
  RunCandidateChild(setup);
}

void Candidate::AwaitReady() {
  stage_ = RunStage::kTiming;
  ChildMessage ready;
  if (!Await(Word::kReady, &ready)) return;
  report_->constants_rotate = ready.number == 1 ? 1 : 0;
  const bool rotates = report_->constants_rotate != 0;
  memory_bytes_ = check_->MemoryBytes(rotates ? context_.request.plan.rotation_bytes : 0);
}

void Candidate::Part() {
  process_.Kill();
  check_.reset();
}

void Candidate::Leave() {
  if (!is_over() && CheckTimedOutputs()) Part();
}

void Candidate::Return() {
  if (is_over()) return;
  const int64_t left_ns = process_.left_ns();
  if (Launch(/*is_checked=*/false)) AwaitReady();
  process_.set_left_ns(left_ns);
}

void Candidate::End(RunOutcome outcome, const std::string& message) {
  process_.Kill();
  check_.reset();
  memory_bytes_ = 0;
  report_->outcome = outcome;
  SetMessage(report_, message.c_str());
}

bool Candidate::Await(Word expected, ChildMessage* message) {
  while (true) {
    if (const auto failure = process_.Await(stage_, message)) {
      End(failure->outcome, failure->message);
      return false;
    }
    if (message->word == expected) return true;
    if (message->word == Word::kFailed) {
      TakeFailure(*message);
      return false;
    }
    const auto stage = static_cast<RunStage>(message->number);
    const bool is_stage =
        check_ == nullptr && (stage == RunStage::kLoading || stage == RunStage::kReference);
    if (message->word != Word::kStage || !is_stage) {
      End(RunOutcome::kCrash, kUnexpected);
      return false;
    }
    stage_ = stage;
  }
}

bool Candidate::Expect(Word expected) {
  ChildMessage message;
  return Await(expected, &message);
}

// Once code of the artifact has run, only that memory is short can be so, or what a driver says of
// a candidate on its device: all else that a child finds out is behind it.
bool Candidate::MayTell(RunOutcome outcome) const {
  if (outcome == RunOutcome::kOutOfMemory) return true;
  if (outcome == RunOutcome::kCrash) return !is_on_host();
  const bool is_early = check_ == nullptr;
  return is_early && (outcome == RunOutcome::kLoadError || outcome == RunOutcome::kDeviceLost);
}

void Candidate::TakeFailure(const ChildMessage& message) {
  const auto outcome = static_cast<RunOutcome>(message.number);
  if (!MayTell(outcome)) return End(RunOutcome::kCrash, kUnexpected);
  End(outcome, message.bytes);
}

bool Candidate::TakeDescription(int shared_fd) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  std::string bytes;
  ChildMessage piece;
  do {
    if (!Await(Word::kDescribed, &piece)) return false;
    bytes += piece.bytes;
  } while (piece.number > 0 && bytes.size() < kMostBytes);
  std::optional<KernelDescription> description = KernelDescription::Decode(bytes);
  if (!description) {
    End(RunOutcome::kLoadError, "expected a description of its buffers, found a damaged one");
    return false;
  }
  check_ = std::make_unique<CandidateCheck>(*std::move(description), context_.reference,
                                            is_on_host() ? Guard::kPages : Guard::kZones);
  stage_ = RunStage::kChecking;
  if (check_->Map(shared_fd)) return true;
  End(RunOutcome::kOutOfMemory, "no memory for its outputs");
  return false;
}

void Candidate::CheckOutputs() {
  const std::string wrong_table = check_->FindWrongTable();
  if (!wrong_table.empty()) return End(RunOutcome::kWrongOutput, wrong_table);
  for (const InputSet set : {InputSet::kExact, InputSet::kFloat}) {
    if (!CheckSet(set)) return;
  }
}

std::string Candidate::RunAndCheck(Command command, Word answer, InputSet set) {
  const auto threads = static_cast<int>(context_.request.threads);
  {
    const OnMeasuredCores here(threads);
    check_->Poison();
  }
  process_.Command(command);
  if (!Expect(answer)) return "";
  const OnMeasuredCores here(threads);
  return check_->FindWrongOutput(set);
}

bool Candidate::CheckSet(InputSet set) {
  const std::string wrong = RunAndCheck(Command::kCheck, Word::kRan, set);
  if (is_over()) return false;
  report_->error_ratio = check_->error_ratio();
  if (wrong.empty()) return true;
  End(RunOutcome::kWrongOutput,
      fmt::format("{} (inputs: {})", wrong, set == InputSet::kExact ? "small integers" : "floats"));
  return false;
}

void Candidate::RunRound() {
  if (is_over()) return;
  constexpr int kMostTries = 3;
  RoundLog log;
  std::string wrong;
  // What disturbs a round between its chunks can look like a false report, once.
  for (int tried = 0; tried < kMostTries; ++tried) {
    SeenRound seen;
    if (!TimeRound(&log, &seen)) return;
    report_->timing_ns += static_cast<int64_t>(seen.wall_ns);
    const std::string miscounted = FindFalseCount(log, context_.request.plan, seen);
    if (!miscounted.empty()) return End(RunOutcome::kCrash, miscounted);
    wrong = FindFalseTime(log, seen);
    if (wrong.empty()) return Keep(log);
  }
  End(RunOutcome::kCrash, wrong);
}

bool Candidate::TimeRound(RoundLog* log, SeenRound* seen) {
  const uint64_t runs = check_->runs();
  const double cpu_ns = ProcessorNs(process_.pid());
  const int64_t start_ns = Clock::Real().NowNs();
  process_.Command(Command::kRound);
  ChildMessage message;
  if (!Await(Word::kRound, &message)) return false;
  seen->wall_ns = static_cast<double>(Clock::Real().NowNs() - start_ns);
  // What a device computes takes no processor time.
  seen->cpu_ns = is_on_host() ? ProcessorNs(process_.pid()) - cpu_ns : 0;
  seen->runs = check_->runs() - runs;
  std::optional<RoundLog> decoded = DecodeRound(message.bytes);
  if (!decoded) {
    End(RunOutcome::kCrash, "its process reports a round that cannot be");
    return false;
  }
  *log = *std::move(decoded);
  return true;
}

void Candidate::Keep(const RoundLog& log) {
  Timing timing = TimingOf(log, context_.request.plan);
  report_->dirty_chunks += timing.dirty_chunks;
  if (context_.request.rounds == 0) {
    if (timing.is_noisy) report_->is_noisy = 1;
    for (size_t i = 0; i < timing.samples_ns.size(); ++i) {
      KeepSample(timing.samples_ns[i], timing.calibrator_ns[i]);
    }
    return;
  }
  // A final's round counts as the median of its clean chunks; where it has none, its least
  // disturbed one.
  if (timing.clean_chunks == 0) report_->is_noisy = 1;
  const uint32_t used = std::max(timing.clean_chunks, 1u);
  timing.samples_ns.resize(used);
  timing.calibrator_ns.resize(used);
  KeepSample(Median(std::move(timing.samples_ns)), Median(std::move(timing.calibrator_ns)));
}

void Candidate::KeepSample(double sample_ns, double calibrator_ns) {
  if (report_->sample_count >= kMaxSamples) return;
  report_->samples_ns[report_->sample_count] = sample_ns;
  report_->calibrator_ns[report_->sample_count] = calibrator_ns;
  report_->sample_count += 1;
}

void Candidate::Finish() {
  if (is_over()) return;
  // It may have left, with its outputs checked.
  if (process_.is_alive() && !CheckTimedOutputs()) return;
  End(RunOutcome::kOk, "");
}

bool Candidate::CheckTimedOutputs() {
  if (context_.reference == nullptr) return true;
  const std::string wrong = RunAndCheck(Command::kOutputs, Word::kOutputs, InputSet::kFloat);
  if (is_over()) return false;
  if (!wrong.empty()) End(RunOutcome::kWrongOutput, wrong + " (after it was timed)");
  return wrong.empty();
}

}  // namespace hone::measure
