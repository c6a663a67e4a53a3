#include "tuning_db/anonymise.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "support/clock.h"
#include "support/digest.h"
#include "tuning_db/digest_bytes.h"

namespace hone::tuning_db {
namespace {

constexpr size_t kPseudonymDigits = 16;
constexpr std::array<std::string_view, 3> kRegimes = {"warm", "shared_constants", "cold_constants"};

int64_t BeginOfDay(int64_t wall_ns) { return wall_ns - ((wall_ns % kDayNs) + kDayNs) % kDayNs; }

// Logs of others may have any text where ours have a digest.
void KeepDigest(std::string& text) {
  if (!DigestToBytes(text)) text.clear();
}

}  // namespace

void Anonymiser::Apply(LogLine& line) const {
  KeepDigest(line.task.anchor_digest);
  if (line.is_final) {
    Apply(line.final);
  } else {
    Apply(line.record);
  }
}

std::string Anonymiser::Pseudonym(std::string_view kind, std::string_view name) const {
  const std::string inner = Sha256Hex(key_ + std::string(name));
  return std::string(kind) + "-" + Sha256Hex(key_ + inner).substr(0, kPseudonymDigits);
}

void Anonymiser::Apply(Record& record) const {
  KeepDigest(record.of_trial.nest_digest);
  KeepDigest(record.artifact_digest);
  record.message = record.outcome == Outcome::kOk ? "" : std::string(Name(record.outcome));
  if (!record.retracted.empty()) record.retracted = "retracted";
  if (record.toolchain.find('/') != std::string::npos) {
    record.toolchain = Pseudonym("toolchain", record.toolchain);
  }
  record.device = Pseudonym("device", record.device);
  if (std::ranges::find(kRegimes, record.regime) == kRegimes.end()) record.regime.clear();
  record.worker.clear();
  record.wall_time_ns = BeginOfDay(record.wall_time_ns);
}

void Anonymiser::Apply(Final& final) const {
  if (final.toolchain.find('/') != std::string::npos) {
    final.toolchain = Pseudonym("toolchain", final.toolchain);
  }
  final.device = Pseudonym("device", final.device);
  final.wall_time_ns = BeginOfDay(final.wall_time_ns);
  for (FinalEntry& entry : final.entries) {
    KeepDigest(entry.nest_digest);
    KeepDigest(entry.artifact_digest);
  }
}

}  // namespace hone::tuning_db
