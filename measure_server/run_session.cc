#include "measure_server/run_session.h"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <string>

#include "measure_server/candidate.h"

namespace hone::measure {
namespace {

// The reports of a run, mapped; no child sees them.
class Reports {
 public:
  Reports(int fd, size_t count) : bytes_(count * sizeof(RunReport)) {
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

 private:
  const size_t bytes_;
  RunReport* first_ = nullptr;
};

// Forwards in even rounds, backwards in odd ones: what one leaves in the caches and in the clock's
// frequency is not always met by the same other.
size_t CandidateAt(size_t turn, size_t round, size_t count) {
  const size_t forwards = (round + turn) % count;
  return round % 2 == 0 ? forwards : count - 1 - forwards;
}

void Run(const SessionContext& context, const RunFiles& files, const Reports& reports) {
  // A later child holds nothing that an earlier one needs to end.
  std::vector<std::unique_ptr<Candidate>> candidates;
  for (size_t i = 0; i < files.artifact_fds.size(); ++i) {
    candidates.push_back(
        std::make_unique<Candidate>(context, files.artifact_fds[i], reports[i]));
    candidates.back()->Start();
  }
  const size_t count = candidates.size();
  for (size_t round = 0; round < std::max(context.request.rounds, 1u); ++round) {
    for (size_t i = 0; i < count; ++i) candidates[CandidateAt(i, round, count)]->RunRound();
  }
  for (const auto& candidate : candidates) candidate->Finish();
}

// Of the worker's own memory: no candidate's fault.
void LoseAll(const std::string& message, size_t count, const Reports& reports) {
  for (size_t i = 0; i < count; ++i) {
    reports[i]->outcome = RunOutcome::kDeviceLost;
    SetMessage(reports[i], message.c_str());
  }
}

}  // namespace

void RunSession(const RunRequest& request, const RunFiles& files, const Sandbox& sandbox) {
  const Reports reports(files.reports_fd, files.artifact_fds.size());
  if (!reports.ok()) return;
  Cancellation cancellation(files.cancel_fd, request.session);
  ReferenceFile reference;
  SessionContext context{request, sandbox, nullptr, files.reference_fd, &cancellation};
  if (request.has_reference != 0) {
    std::string error;
    if (!reference.OpenForReading(files.reference_fd, &error)) {
      return LoseAll(error, files.artifact_fds.size(), reports);
    }
    context.reference = &reference;
  }
  Run(context, files, reports);
}

}  // namespace hone::measure
