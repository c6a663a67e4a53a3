#include "tuning_db/well_formed.h"

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "support/status.h"
#include "tuning_db/task_match.h"

namespace hone::tuning_db {
namespace {

struct Range {
  unsigned char low;
  unsigned char high;
};

// What may follow the first byte of a character: how many bytes, and which the next of them may be.
// (Unicode 15, table 3-7: no longer form than needed, no surrogates, nothing above U+10FFFF.)
struct Rest {
  size_t bytes;
  Range next;
};

bool RestOf(unsigned char first, Rest& rest) {
  rest = {0, {0x80, 0xBF}};
  if (first < 0x80) return true;
  if (first >= 0xC2 && first <= 0xDF) rest.bytes = 1;
  if (first >= 0xE0 && first <= 0xEF) rest.bytes = 2;
  if (first >= 0xF0 && first <= 0xF4) rest.bytes = 3;
  if (first == 0xE0) rest.next.low = 0xA0;
  if (first == 0xED) rest.next.high = 0x9F;
  if (first == 0xF0) rest.next.low = 0x90;
  if (first == 0xF4) rest.next.high = 0x8F;
  return rest.bytes > 0;
}

bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    Rest rest;
    if (!RestOf(static_cast<unsigned char>(text[at++]), rest)) return false;
    for (; rest.bytes > 0; --rest.bytes, rest.next = {0x80, 0xBF}) {
      if (at == text.size()) return false;
      const auto byte = static_cast<unsigned char>(text[at++]);
      if (byte < rest.next.low || byte > rest.next.high) return false;
    }
  }
  return true;
}

using NamedText = std::pair<std::string_view, std::string_view>;

absl::Status AreTexts(std::initializer_list<NamedText> texts) {
  for (const auto& [what, text] : texts) HONE_RETURN_IF_ERROR(IsText(what, text));
  return absl::OkStatus();
}

}  // namespace

absl::Status IsText(std::string_view what, std::string_view text) {
  constexpr size_t kShown = 64;
  if (text.find('\0') == std::string_view::npos && IsUtf8(text)) return absl::OkStatus();
  const std::string_view shown = text.substr(0, kShown);
  return absl::InvalidArgumentError(fmt::format(
      "expected {} in UTF-8 without NUL bytes, found \"{}\"{}", what,
      absl::CHexEscape({shown.data(), shown.size()}), text.size() > kShown ? " and more" : ""));
}

absl::Status IsWellFormed(const Task& task) {
  return AreTexts({{"a workload", task.workload},
                   {"a workload's digest", task.workload_digest},
                   {"an anchor's digest", task.anchor_digest},
                   {"a target", task.target}});
}

absl::Status IsWellFormed(const Trial& trial) {
  return AreTexts({{"a signature", trial.signature},
                   {"a config", trial.config},
                   {"a nest's digest", trial.nest_digest}});
}

absl::Status IsWellFormed(const LeaseRequest& request) {
  return AreTexts({{"a worker's name", request.worker}, {"a device's name", request.device}});
}

absl::Status IsWellFormed(const Record& record) {
  return AreTexts({{"an artifact's digest", record.artifact_digest},
                   {"a toolchain", record.toolchain},
                   {"a device's fingerprint", record.device},
                   {"a regime", record.regime},
                   {"a worker's name", record.worker}});
}

absl::Status IsWellFormed(const DeviceRest& rest) {
  return AreTexts({{"a worker's name", rest.worker}, {"a device's name", rest.device}});
}

absl::Status IsWellFormed(const Quarantine& quarantine) {
  if (quarantine.worker.empty()) {
    return absl::InvalidArgumentError(
        "expected the worker that is put into quarantine, found none");
  }
  return AreTexts({{"a worker's name", quarantine.worker},
                   {"a device's name", quarantine.device},
                   {"a reason", quarantine.reason},
                   {"a caller's name", quarantine.by}});
}

absl::Status IsWellFormed(const Final& final) {
  HONE_RETURN_IF_ERROR(AreTexts({{"a signature", final.signature},
                                 {"a toolchain", final.toolchain},
                                 {"a device's fingerprint", final.device}}));
  for (const FinalEntry& entry : final.entries) {
    HONE_RETURN_IF_ERROR(AreTexts({{"a config", entry.config},
                                   {"a nest's digest", entry.nest_digest},
                                   {"an artifact's digest", entry.artifact_digest}}));
  }
  return HasItsEntries(final);
}

absl::Status HasItsEntries(const Final& final) {
  const auto in_range = [&](int i) {
    return i >= 0 && static_cast<size_t>(i) < final.entries.size();
  };
  if (in_range(final.winner) && in_range(final.default_entry)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("a final of {} entries cannot have winner {} and default {}",
                  final.entries.size(), final.winner, final.default_entry));
}

absl::Status IsWellFormed(const ModelFinal& final) {
  HONE_RETURN_IF_ERROR(AreTexts({{"a skeleton", final.skeleton},
                                 {"a target", final.target},
                                 {"a model's name", final.model},
                                 {"the digest of what was compared", final.compared}}));
  for (const std::string& signature : final.signatures) {
    HONE_RETURN_IF_ERROR(IsText("a signature", signature));
  }
  for (const ModelFinalKernel& kernel : final.kernels) {
    HONE_RETURN_IF_ERROR(AreTexts({{"a kernel's name", kernel.name},
                                   {"a workload's digest", kernel.workload_digest},
                                   {"a signature", kernel.signature},
                                   {"a config", kernel.winner},
                                   {"a config", kernel.kept},
                                   {"a nest's digest", kernel.kept_nest_digest}}));
  }
  if (!final.skeleton.empty() && !final.target.empty() && !final.kernels.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("the final of a model needs a skeleton, a target and kernels, found '{}', '{}' "
                  "and {} kernels",
                  final.skeleton, final.target, final.kernels.size()));
}

absl::Status IsWellFormed(const Job& job) {
  if (job.client_id.empty()) {
    return absl::InvalidArgumentError("a job needs a client id; clients choose a UUID");
  }
  for (const JobTask& task : job.tasks) {
    HONE_RETURN_IF_ERROR(
        AreTexts({{"a signature", task.signature}, {"a kernel's name", task.name}}));
  }
  return AreTexts({{"a client id", job.client_id},
                   {"a model's name", job.model},
                   {"a target", job.target},
                   {"a search's name", job.search},
                   {"a submitter", job.submitter},
                   {"a class of devices", job.device_class},
                   {"a request's digest", job.request_digest},
                   {"an owner's name", job.owner}});
}

absl::Status IsWellFormed(const Miss& miss) {
  return AreTexts({{"a workload", miss.workload},
                   {"a workload's digest", miss.workload_digest},
                   {"a signature", miss.signature},
                   {"a target", miss.target},
                   {"a tier", miss.tier},
                   {"a model's name", miss.model}});
}

absl::Status IsWellFormed(const JobFilter& filter) {
  return AreTexts({{"a submitter", filter.submitter},
                   {"a part of a target", filter.target},
                   {"a part of a model's name", filter.model}});
}

absl::Status IsWellFormed(const RecordFilter& filter) {
  HONE_RETURN_IF_ERROR(
      AreTexts({{"a signature", filter.signature.value_or("")},
                {"a target", filter.target},
                {"a part of a target", filter.target_part},
                {"a part of a workload", filter.workload_substring},
                {"an operator", filter.op},
                {"a shape", filter.shape},
                {"a device's fingerprint", filter.device},
                {"the beginning of a device's fingerprint", filter.device_prefix}}));
  if (filter.op.find_first_of(" ()") != std::string::npos) {
    return absl::InvalidArgumentError(
        fmt::format("expected an operator such as nn.conv2d, found '{}'", filter.op));
  }
  if (filter.shape.empty()) return absl::OkStatus();
  return ShapeText(filter.shape).status();
}

}  // namespace hone::tuning_db
