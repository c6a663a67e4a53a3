#include "tuner/builder/client/frames.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/clock.h"
#include "support/status.h"

namespace hone::tuner {
namespace {

constexpr size_t kHeaderBytes = 4;

uint32_t DecodeSize(std::string_view header) {
  uint32_t size = 0;
  for (size_t i = 0; i < kHeaderBytes; ++i) {
    size |= static_cast<uint32_t>(static_cast<uint8_t>(header[i])) << (8 * i);
  }
  return size;
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return absl::UnavailableError(
          fmt::format("the other end of the pipe is gone: {}", strerror(errno)));
    }
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteFrame(int fd, std::string_view message) {
  std::string header(kHeaderBytes, '\0');
  for (size_t i = 0; i < kHeaderBytes; ++i) {
    header[i] = static_cast<char>(message.size() >> (8 * i));
  }
  HONE_RETURN_IF_ERROR(WriteAll(fd, header));
  return WriteAll(fd, message);
}

absl::StatusOr<std::string> FrameReader::TakeBuffered() {
  if (pending_.size() >= kHeaderBytes) {
    const uint32_t size = DecodeSize(pending_);
    if (size > kMaxFrameBytes) {
      return absl::InternalError(fmt::format("expected a message, found one of {} bytes", size));
    }
    if (pending_.size() >= kHeaderBytes + size) {
      std::string message = pending_.substr(kHeaderBytes, size);
      pending_.erase(0, kHeaderBytes + size);
      return message;
    }
  }
  return absl::DeadlineExceededError("no whole message yet");
}

absl::Status FrameReader::Fill() {
  char buffer[64 << 10];
  ssize_t count = 0;
  do {
    count = read(fd_, buffer, sizeof(buffer));
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return absl::UnavailableError("the stream of messages ended");
  pending_.append(buffer, static_cast<size_t>(count));
  return absl::OkStatus();
}

absl::StatusOr<std::string> FrameReader::Read(int64_t limit_ns) {
  const int64_t deadline_ns = Clock::Real().NowNs() + limit_ns;
  while (true) {
    absl::StatusOr<std::string> message = TakeBuffered();
    if (message.status().code() != absl::StatusCode::kDeadlineExceeded) return message;
    if (limit_ns >= 0) {
      const int64_t left_ns = deadline_ns - Clock::Real().NowNs();
      pollfd waiting = {fd_, POLLIN, 0};
      const int ready =
          left_ns <= 0 ? 0 : poll(&waiting, 1, static_cast<int>(left_ns / 1000000) + 1);
      if (ready == 0) return absl::DeadlineExceededError("no message in time");
      if (ready < 0) continue;
    }
    HONE_RETURN_IF_ERROR(Fill());
  }
}

}  // namespace hone::tuner
