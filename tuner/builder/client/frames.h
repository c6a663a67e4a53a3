// Messages on pipes: a 4-byte little-endian size, then the message (proto/hone/v1/builder.proto).
#ifndef HONE_TUNER_BUILDER_CLIENT_FRAMES_H_
#define HONE_TUNER_BUILDER_CLIENT_FRAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone::tuner {

// Larger frames are treated as garbage.
inline constexpr uint32_t kMaxFrameBytes = 64 << 20;

// Writes a whole frame; blocks. kUnavailable when the reader is gone (SIGPIPE must be blocked or
// ignored).
absl::Status WriteFrame(int fd, std::string_view message);

// Splits a stream of bytes into messages. Not thread-safe; does not own the descriptor.
class FrameReader {
 public:
  explicit FrameReader(int fd) : fd_(fd) {}

  // The next whole message. Waits up to `limit_ns` (negative: without limit), then
  // kDeadlineExceeded; kUnavailable at the end of the stream, kInternal for garbage.
  absl::StatusOr<std::string> Read(int64_t limit_ns);
  // A message that has already arrived completely, or kDeadlineExceeded.
  absl::StatusOr<std::string> TakeBuffered();
  // Reads once what has arrived, and blocks if that is nothing. kUnavailable at the end of the
  // stream.
  absl::Status Fill();

 private:
  int fd_;
  std::string pending_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_CLIENT_FRAMES_H_
