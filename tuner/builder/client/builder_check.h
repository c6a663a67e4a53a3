// Checks whether a builder can do what is asked of it, and whether its answers fit.
#ifndef HONE_TUNER_BUILDER_CLIENT_BUILDER_CHECK_H_
#define HONE_TUNER_BUILDER_CLIENT_BUILDER_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hone/v1/builder.pb.h"

namespace hone::tuner {

// Parses the first message of a builder. kFailedPrecondition if it is no Hello, or names no
// toolchain.
absl::StatusOr<hone::v1::BuilderHello> ParseHello(const std::string& message);

// The error for a builder that does not say what it can build.
absl::Status NoHello(const std::string& executable);

// The kind of artifact that candidates for the target (canonical text) are built into; UNSPECIFIED
// for unknown kinds of targets.
hone::v1::ArtifactKind ArtifactKindOf(const std::string& target);

// kFailedPrecondition if the builder has another toolchain than `toolchain`, or cannot build for
// the request's kind of target or artifact. The message has what the builder says and what is
// asked.
absl::Status CanBuild(const hone::v1::BuilderHello& hello, const std::string& toolchain,
                      const hone::v1::BuildRequest& request);

// kInternal if the reply cannot be this builder's answer to this request.
absl::Status IsAnswer(const hone::v1::BuilderHello& hello, const hone::v1::BuildRequest& request,
                      const hone::v1::BuildReply& reply);

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_CLIENT_BUILDER_CHECK_H_
