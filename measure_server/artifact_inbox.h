// Puts artifacts together that come to the worker in chunks.
#ifndef HONE_MEASURE_SERVER_ARTIFACT_INBOX_H_
#define HONE_MEASURE_SERVER_ARTIFACT_INBOX_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "hone/v1/farm.pb.h"

namespace hone::measure {

// Not thread-safe.
class ArtifactInbox {
 public:
  explicit ArtifactInbox(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // False if the artifact is already on its way.
  bool Expect(const std::string& digest) { return transfers_.try_emplace(digest).second; }
  // Returns the whole artifact if this was its last chunk. kUnavailable: more chunks are to come,
  // or nobody expects the artifact. kNotFound: the daemon no longer has it. kDataLoss: the chunks
  // are out of order, or larger than `most_bytes` in all.
  absl::StatusOr<std::string> Take(const hone::v1::ArtifactChunk& chunk);
  void Clear() { transfers_.clear(); }

 private:
  const uint64_t most_bytes_;
  std::map<std::string, std::string> transfers_;  // the bytes so far, by digest
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ARTIFACT_INBOX_H_
