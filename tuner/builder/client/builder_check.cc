#include "tuner/builder/client/builder_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "runtime/target_text.h"

namespace hone::tuner {

namespace v1 = hone::v1;

absl::StatusOr<v1::BuilderHello> ParseHello(const std::string& message) {
  v1::BuilderHello hello;
  if (hello.ParseFromString(message) && !hello.toolchains().empty()) return hello;
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

namespace {

// Empty if it builds nothing for such targets.
std::string ToolchainFor(const v1::BuilderHello& hello, const std::string& target) {
  const auto found = hello.toolchains().find(std::string(KindOf(target)));
  return found == hello.toolchains().end() ? "" : found->second;
}

std::string KindsOf(const v1::BuilderHello& hello) {
  std::set<std::string> kinds;
  for (const auto& [kind, toolchain] : hello.toolchains()) kinds.insert(kind);
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

absl::Status CanBuild(const v1::BuilderHello& hello, const v1::BuilderHello& first,
                      const v1::BuildRequest& request) {
  const std::string toolchain = ToolchainFor(hello, request.target());
  if (toolchain.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("expected a builder for targets of kind \"{}\", found one for: {}",
                    KindOf(request.target()), KindsOf(hello)));
  }
  if (const std::string wanted = ToolchainFor(first, request.target()); toolchain != wanted) {
    return absl::FailedPreconditionError(
        fmt::format("expected a builder of toolchain \"{}\", as the first one was, found one of "
                    "\"{}\"; their times do not compare: start honed again",
                    wanted, toolchain));
  }
  const auto& artifacts = hello.artifact_kinds();
  if (std::find(artifacts.begin(), artifacts.end(), v1::ARTIFACT_KIND_ELF) != artifacts.end()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      fmt::format("expected a builder that makes {}, found one that does not; install hone-builder "
                  "of this release",
                  v1::ArtifactKind_Name(v1::ARTIFACT_KIND_ELF)));
}

absl::Status IsAnswer(const v1::BuilderHello& hello, const v1::BuildRequest& request,
                      const v1::BuildReply& reply) {
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) return absl::OkStatus();
  constexpr v1::ArtifactKind kExpected = v1::ARTIFACT_KIND_ELF;
  const std::string toolchain = ToolchainFor(hello, request.target());
  if (reply.kind() == kExpected && reply.toolchain() == toolchain) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("expected {} of toolchain \"{}\" from a builder, found {} of \"{}\"",
                  v1::ArtifactKind_Name(kExpected), toolchain, v1::ArtifactKind_Name(reply.kind()),
                  reply.toolchain()));
}

}  // namespace hone::tuner
