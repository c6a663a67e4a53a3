// Has artifacts built by the hone-builder next to this program, as a daemon does.
#ifndef HONE_CLI_LOCAL_BUILDER_H_
#define HONE_CLI_LOCAL_BUILDER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/builder.pb.h"

namespace hone::cli {

// Returns the replies in the order of the requests. A reply whose outcome is not OK says why its
// request does not build; errors are the builder's.
absl::StatusOr<std::vector<v1::BuildReply>> BuildHere(std::vector<v1::BuildRequest> requests);

}  // namespace hone::cli

#endif  // HONE_CLI_LOCAL_BUILDER_H_
