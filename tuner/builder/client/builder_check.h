// Whether a builder does for what is asked of it.
#ifndef HONE_TUNER_BUILDER_CLIENT_BUILDER_CHECK_H_
#define HONE_TUNER_BUILDER_CLIENT_BUILDER_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hone/v1/builder.pb.h"

namespace hone::tuner {

// The first message of a builder. kFailedPrecondition: it is none, or names no toolchain.
absl::StatusOr<hone::v1::BuilderHello> ParseHello(const std::string& message);

// Why a builder that says nothing is not used.
absl::Status NoHello(const std::string& executable);

// What a candidate for the target (canonical text) is built into; UNSPECIFIED for unknown kinds.
hone::v1::ArtifactKind ArtifactKindOf(const std::string& target);

// kFailedPrecondition, with what the builder says and what is asked: it builds with another
// toolchain than this, or nothing of the request's kind of target or artifact.
absl::Status CanBuild(const hone::v1::BuilderHello& hello, const std::string& toolchain,
                      const hone::v1::BuildRequest& request);

// kInternal: the reply is not what such a request of such a builder may get.
absl::Status IsAnswer(const hone::v1::BuilderHello& hello, const hone::v1::BuildRequest& request,
                      const hone::v1::BuildReply& reply);

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_CLIENT_BUILDER_CHECK_H_
