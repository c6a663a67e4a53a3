#include "measure_server/artifact_inbox.h"

#include <fmt/format.h>

#include <utility>

namespace hone::measure {

absl::StatusOr<std::string> ArtifactInbox::Take(const hone::v1::ArtifactChunk& chunk) {
  const auto transfer = transfers_.find(chunk.digest());
  if (transfer == transfers_.end()) return absl::UnavailableError("nobody waits for it");
  std::string& bytes = transfer->second;
  const bool is_broken = chunk.total_bytes() > most_bytes_ || chunk.offset() != bytes.size() ||
                         chunk.data().size() > chunk.total_bytes() - chunk.offset();
  if (chunk.missing() || is_broken) {
    transfers_.erase(transfer);
    if (chunk.missing()) {
      return absl::NotFoundError(fmt::format("the daemon has artifact {} no more", chunk.digest()));
    }
    return absl::DataLossError(
        fmt::format("artifact {} came out of order or is too large", chunk.digest()));
  }
  bytes += chunk.data();
  if (bytes.size() < chunk.total_bytes()) return absl::UnavailableError("more is to come");
  std::string whole = std::move(bytes);
  transfers_.erase(transfer);
  return whole;
}

}  // namespace hone::measure
