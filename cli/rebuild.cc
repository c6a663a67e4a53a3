#include "cli/rebuild.h"

#include <utility>
#include <vector>

#include "cli/local_builder.h"
#include "cli/printable.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::cli {

v1::BuildRequest BuildRequestOf(const v1::RecordInfo& record) {
  v1::BuildRequest request;
  request.set_target(record.target());
  v1::BuildCandidate& candidate = *request.mutable_candidate();
  candidate.set_workload(record.workload());
  candidate.set_signature(record.signature());
  candidate.set_config(record.config());
  candidate.set_nest_digest(record.nest_digest());
  return request;
}

absl::StatusOr<v1::BuildReply> Rebuild(const v1::RecordInfo& record) {
  HONE_ASSIGN_OR_RETURN(std::vector<v1::BuildReply> replies, BuildHere({BuildRequestOf(record)}));
  return std::move(replies[0]);
}

absl::Status CompareBuilds(const v1::RecordInfo& record, const v1::BuildReply& rebuilt) {
  if (rebuilt.outcome() != v1::BUILD_OUTCOME_OK) {
    return absl::AbortedError(fmt::format("expected that the config of record {} builds, found: {}",
                                          record.id(), Printable(rebuilt.message())));
  }
  if (record.artifact_digest().empty()) {
    return absl::AbortedError(
        fmt::format("expected an artifact of record {} to compare with, found none: it was {}",
                    record.id(), record.outcome()));
  }
  if (rebuilt.artifact_digest() == record.artifact_digest()) return absl::OkStatus();
  const std::string toolchains =
      rebuilt.toolchain() == record.toolchain()
          ? fmt::format("of the same toolchain, {}", Printable(record.toolchain()))
          : fmt::format("the toolchain here is another, {} instead of {}",
                        Printable(rebuilt.toolchain()), Printable(record.toolchain()));
  return absl::AbortedError(fmt::format("expected the artifact {} of record {}, found {}; {}",
                                        record.artifact_digest(), record.id(),
                                        rebuilt.artifact_digest(), toolchains));
}

}  // namespace hone::cli
