// Builds a config of the log again on this machine.
#ifndef HONE_CLI_REBUILD_H_
#define HONE_CLI_REBUILD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hone/v1/builder.pb.h"
#include "hone/v1/log.pb.h"

namespace hone::cli {

// The request to build the record's config as a daemon had it built.
v1::BuildRequest BuildRequestOf(const v1::RecordInfo& record);

// A reply whose outcome is not OK says why the config builds no longer; errors are the builder's.
absl::StatusOr<v1::BuildReply> Rebuild(const v1::RecordInfo& record);

// OK if the build gave the record's artifact; otherwise an error that says why not: for another
// artifact, with both digests and, if they differ, both toolchains.
absl::Status CompareBuilds(const v1::RecordInfo& record, const v1::BuildReply& rebuilt);

}  // namespace hone::cli

#endif  // HONE_CLI_REBUILD_H_
