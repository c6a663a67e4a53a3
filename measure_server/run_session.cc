#include "measure_server/run_session.h"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <string>

#include "measure_server/available_memory.h"
#include "measure_server/candidate.h"

namespace hone::measure {
namespace {

// The reports of a run, mapped; no child sees them.
class Reports {
 public:
  Reports(int fd, size_t count) : count_(count), bytes_(count * sizeof(RunReport)) {
    void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) return;
    first_ = static_cast<RunReport*>(mapped);
    madvise(mapped, bytes_, MADV_DONTFORK);
  }
  ~Reports() {
    if (ok()) munmap(first_, bytes_);
  }
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;

  bool ok() const { return first_ != nullptr; }
  RunReport* operator[](size_t i) const { return first_ + i; }
  void Clear() const { std::fill_n(first_, count_, RunReport()); }
  // Whether a candidate failed as it also may where other processes use its device, or did.
  bool HaveFaultOfDevice() const {
    constexpr RunOutcome kFaults[] = {RunOutcome::kDeviceLost, RunOutcome::kLoadError,
                                      RunOutcome::kOutOfMemory, RunOutcome::kCrash};
    return std::any_of(first_, first_ + count_, [&](const RunReport& report) {
      return std::ranges::count(kFaults, report.outcome) > 0;
    });
  }

 private:
  const size_t count_;
  const size_t bytes_;
  RunReport* first_ = nullptr;
};

// Forwards in even rounds, backwards in odd ones: what one leaves in the caches and in the clock's
// frequency is not always met by the same other.
size_t CandidateAt(size_t turn, size_t round, size_t count) {
  const size_t forwards = (round + turn) % count;
  return round % 2 == 0 ? forwards : count - 1 - forwards;
}

// The candidates of a session, in turns. All live from start to end, where the memory is enough.
// Where it is not, each lives for its rounds only: all of them, for one that was just loaded is not
// timed beside one that has lived on. The turns are the same.
class Turns {
 public:
  Turns(const SessionContext& context, const RunFiles& files, const Reports& reports)
      : context_(context) {
    for (size_t i = 0; i < files.artifact_fds.size(); ++i) {
      candidates_.push_back(
          std::make_unique<Candidate>(context, files.artifact_fds[i], reports[i]));
    }
  }

  void Run() {
    Start();
    const size_t count = candidates_.size();
    for (size_t round = 0; round < std::max(context_.request.rounds, 1u); ++round) {
      for (size_t i = 0; i < count; ++i) RunRound(*candidates_[CandidateAt(i, round, count)]);
    }
    for (const auto& candidate : candidates_) candidate->Finish();
  }

 private:
  void Start() {
    const uint64_t limit_bytes = candidates_.size() > 1 ? TogetherBytes() : UINT64_MAX;
    uint64_t bytes = 0;
    for (const auto& candidate : candidates_) {
      candidate->Start();
      bytes += candidate->memory_bytes();
      const bool have_room = bytes <= limit_bytes;
      if (live_together_ && !have_room) {
        live_together_ = false;
        for (const auto& started : candidates_) started->Part();
      } else if (!live_together_) {
        candidate->Part();
      }
    }
  }

  uint64_t TogetherBytes() const {
    const uint64_t asked = context_.request.together_bytes;
    return asked > 0 ? asked : AvailableMemoryBytes() / 2;
  }

  void RunRound(Candidate& candidate) const {
    if (!live_together_) candidate.Return();
    candidate.RunRound();
    if (!live_together_) candidate.Leave();
  }

  const SessionContext& context_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
  bool live_together_ = true;
};

// The worker's own memory is short, which is no candidate's fault.
void LoseAll(const std::string& message, size_t count, const Reports& reports) {
  for (size_t i = 0; i < count; ++i) {
    reports[i]->outcome = RunOutcome::kDeviceLost;
    SetMessage(reports[i], message.c_str());
  }
}

}  // namespace

void RunSession(const RunRequest& request, const RunFiles& files, const RunPlace& place,
                CandidatesAhead* ahead) {
  const Reports reports(files.reports_fd, files.artifact_fds.size());
  if (!reports.ok()) return;
  Cancellation cancellation(files.cancel_fd, request.session);
  ReferenceFile reference;
  SessionContext context{request,       place, /*reference=*/nullptr, files.reference_fd,
                         &cancellation, ahead};
  if (request.has_reference != 0) {
    std::string error;
    if (!reference.OpenForReading(files.reference_fd, &error)) {
      return LoseAll(error, files.artifact_fds.size(), reports);
    }
    context.reference = &reference;
  }
  const bool is_alone = ahead == nullptr || ahead->empty();
  Turns(context, files, reports).Run();
  if (is_alone || cancellation.has_happened() || !reports.HaveFaultOfDevice()) return;
  // The device may have had too little room, or a fault of one process may have spoilt it for those
  // that had opened it already. No candidate is to blame for its neighbours.
  ahead->ForgetAll();
  reports.Clear();
  Turns(context, files, reports).Run();
}

}  // namespace hone::measure
