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

// kFailedPrecondition if the builder has another toolchain for the request's kind of target than
// the one that said `first`, or cannot build for it. The message has what the builder says and what
// is asked.
absl::Status CanBuild(const hone::v1::BuilderHello& hello, const hone::v1::BuilderHello& first,
                      const hone::v1::BuildRequest& request);

// kInternal if the reply cannot be this builder's answer to this request.
absl::Status IsAnswer(const hone::v1::BuilderHello& hello, const hone::v1::BuildRequest& request,
                      const hone::v1::BuildReply& reply);

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_CLIENT_BUILDER_CHECK_H_
