#include "cli/exit_code.h"

#include <string>

#include "absl/strings/cord.h"

namespace hone::cli {
namespace {

constexpr char kPayload[] = "hone.dev/exit-code";

}  // namespace

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  if (!status.ok()) status.SetPayload(kPayload, absl::Cord(std::to_string(code)));
  return status;
}

int ExitCodeOf(const absl::Status& status) {
  if (const auto payload = status.GetPayload(kPayload)) return std::stoi(std::string(*payload));
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kDataLoss:
      return kBadInput;
    case absl::StatusCode::kUnavailable:
      return kServerUnreachable;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return kDenied;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
      return kBusy;
    default:
      return kFailed;
  }
}

}  // namespace hone::cli
