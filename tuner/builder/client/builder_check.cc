#include "tuner/builder/client/builder_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "runtime/target_text.h"

namespace hone::tuner {

namespace v1 = hone::v1;

absl::StatusOr<v1::BuilderHello> ParseHello(const std::string& message) {
  v1::BuilderHello hello;
  if (hello.ParseFromString(message) && !hello.toolchain().empty()) return hello;
  return absl::FailedPreconditionError(
      "expected a builder to say first what it can build, found another message; honed and "
      "hone-builder must be of one release");
}

absl::Status NoHello(const std::string& executable) {
  return absl::FailedPreconditionError(
      fmt::format("expected the builder {} to say first what it can build, found that it waits to "
                  "be asked, as one of an older release does; honed and hone-builder must be of "
                  "one release",
                  executable));
}

v1::ArtifactKind ArtifactKindOf(const std::string& target) {
  const std::string_view kind = KindOf(target);
  if (kind == "llvm") return v1::ARTIFACT_KIND_ELF;
  if (kind == "cuda") return v1::ARTIFACT_KIND_PTX;
  if (kind == "opencl") return v1::ARTIFACT_KIND_OPENCL_C;
  return v1::ARTIFACT_KIND_UNSPECIFIED;
}

absl::Status CanBuild(const v1::BuilderHello& hello, const std::string& toolchain,
                      const v1::BuildRequest& request) {
  if (hello.toolchain() != toolchain) {
    return absl::FailedPreconditionError(
        fmt::format("expected a builder of toolchain \"{}\", as the first one was, found one of "
                    "\"{}\"; their times do not compare: start honed again",
                    toolchain, hello.toolchain()));
  }
  const std::string_view kind = KindOf(request.target());
  const auto& kinds = hello.target_kinds();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    return absl::FailedPreconditionError(
        fmt::format("expected a builder for targets of kind \"{}\", found one for: {}", kind,
                    fmt::join(kinds, ", ")));
  }
  const v1::ArtifactKind artifact = ArtifactKindOf(request.target());
  const auto& artifacts = hello.artifact_kinds();
  if (std::find(artifacts.begin(), artifacts.end(), artifact) != artifacts.end()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      fmt::format("expected a builder that makes {}, found one that does not; install hone-builder "
                  "of this release",
                  v1::ArtifactKind_Name(artifact)));
}

absl::Status IsAnswer(const v1::BuilderHello& hello, const v1::BuildRequest& request,
                      const v1::BuildReply& reply) {
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) return absl::OkStatus();
  const v1::ArtifactKind expected = ArtifactKindOf(request.target());
  if (reply.kind() == expected && reply.toolchain() == hello.toolchain()) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("expected {} of toolchain \"{}\" from a builder, found {} of \"{}\"",
                  v1::ArtifactKind_Name(expected), hello.toolchain(),
                  v1::ArtifactKind_Name(reply.kind()), reply.toolchain()));
}

}  // namespace hone::tuner
