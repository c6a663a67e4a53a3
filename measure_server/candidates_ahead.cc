#include "measure_server/candidates_ahead.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "measure_server/candidate_child.h"

namespace hone::measure {
namespace {

// Descriptors of one file have one number; 0: there is no such file.
uint64_t FileNumber(int fd) {
  struct stat file{};
  return fstat(fd, &file) == 0 ? file.st_ino : 0;
}

}  // namespace

AheadCandidate::AheadCandidate(int64_t lease_of_it, const RunPlace& place)
    : lease(lease_of_it), process(/*limit_ns=*/0, place.descendants(), place.isolation, &none) {}

void CandidatesAhead::Start(const RunRequest& request, const std::vector<int>& artifact_fds) {
  for (const int artifact_fd : artifact_fds) {
    if (Find(request.lease, artifact_fd) != candidates_.end()) continue;
    auto candidate = std::make_unique<AheadCandidate>(request.lease, *place_);
    candidate->artifact = FileNumber(artifact_fd);
    if (candidate->artifact == 0 || candidate->shared.fd() < 0) continue;
    const auto failure = candidate->process.Start([&](int control_fd) {
      ChildSetup setup;
      setup.request = request;
      setup.request.kind = RunRequest::kMeasure;
      setup.place = place_;
      setup.artifact_fd = artifact_fd;
      setup.shared_fd = candidate->shared.fd();
      setup.control_fd = control_fd;
      setup.is_ahead = true;
      RunCandidateChild(setup);
    });
    if (!failure) candidates_.push_back(std::move(candidate));
  }
}

std::unique_ptr<AheadCandidate> CandidatesAhead::Take(int64_t lease, int artifact_fd) {
  const auto found = Find(lease, artifact_fd);
  if (found == candidates_.end()) return nullptr;
  std::unique_ptr<AheadCandidate> taken = std::move(*found);
  candidates_.erase(found);
  return taken;
}

CandidatesAhead::Candidates::iterator CandidatesAhead::Find(int64_t lease, int artifact_fd) {
  const uint64_t artifact = FileNumber(artifact_fd);
  return std::ranges::find_if(candidates_, [&](const auto& candidate) {
    return candidate->lease == lease && candidate->artifact == artifact;
  });
}

void CandidatesAhead::Forget(int64_t lease) {
  std::erase_if(candidates_, [lease](const auto& candidate) { return candidate->lease == lease; });
}

}  // namespace hone::measure
