#include "measure_server/one_measurement.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <memory>

#include "support/digest.h"
#include "support/status.h"

namespace hone::measure {
namespace {

using Artifacts = std::map<std::string, std::shared_ptr<const Artifact>>;

absl::StatusOr<std::shared_ptr<const Artifact>> Find(const Artifacts& artifacts,
                                                     const hone::v1::Candidate& candidate) {
  const auto found = artifacts.find(candidate.artifact_digest());
  if (found != artifacts.end()) return found->second;
  return absl::InvalidArgumentError(
      fmt::format("expected the artifact {} beside its assignment, found {} others",
                  candidate.artifact_digest(), artifacts.size()));
}

}  // namespace

absl::StatusOr<Job> ReadOneMeasurement(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(fmt::format("cannot read {}", path));
  hone::v1::OneMeasurement wanted;
  if (!wanted.ParseFromIstream(&file)) {
    return absl::InvalidArgumentError(
        fmt::format("expected a measurement to be made in {}, found something else", path));
  }
  Artifacts artifacts;
  for (const std::string& bytes : wanted.artifacts()) {
    const std::string digest = Sha256Hex(bytes);
    HONE_ASSIGN_OR_RETURN(artifacts[digest], Artifact::Make(digest, bytes));
  }
  Job job;
  job.assignment = wanted.assignment();
  for (const hone::v1::Candidate& candidate : job.assignment.candidates()) {
    HONE_ASSIGN_OR_RETURN(job.candidates.emplace_back(), Find(artifacts, candidate));
  }
  if (job.candidates.empty()) return absl::InvalidArgumentError("expected a candidate, found none");
  if (job.assignment.has_reference()) {
    HONE_ASSIGN_OR_RETURN(job.reference, Find(artifacts, job.assignment.reference()));
  }
  return job;
}

}  // namespace hone::measure
