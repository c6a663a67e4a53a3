#include "measure_server/artifact_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/digest.h"

namespace hone::measure {
namespace {

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Artifact>> Artifact::Make(const std::string& digest,
                                                               std::string_view bytes) {
  const std::string found = Sha256Hex(bytes);
  if (found != digest) {
    return absl::InvalidArgumentError(
        fmt::format("expected an artifact with digest {}, received {} bytes with digest {}", digest,
                    bytes.size(), found));
  }
  // Sealed: what a child does with the descriptor changes nothing for the next one.
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  const int fd = memfd_create("hone-artifact", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || !WriteAll(fd, bytes) || fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    const std::string fault = std::strerror(errno);
    if (fd >= 0) close(fd);
    return absl::InternalError(fmt::format("keeping an artifact in memory: {}", fault));
  }
  return std::shared_ptr<const Artifact>(new Artifact(digest, bytes.size(), fd));
}

Artifact::~Artifact() { close(fd_); }

void ArtifactCache::Put(std::shared_ptr<const Artifact> artifact) {
  if (by_digest_.count(artifact->digest()) > 0) return;
  size_bytes_ += artifact->size_bytes();
  entries_.push_front(std::move(artifact));
  by_digest_[entries_.front()->digest()] = entries_.begin();
  while (size_bytes_ > limit_bytes_ && entries_.size() > 1) {
    size_bytes_ -= entries_.back()->size_bytes();
    by_digest_.erase(entries_.back()->digest());
    entries_.pop_back();
  }
}

std::shared_ptr<const Artifact> ArtifactCache::Find(const std::string& digest) {
  const auto found = by_digest_.find(digest);
  if (found == by_digest_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return *found->second;
}

}  // namespace hone::measure
