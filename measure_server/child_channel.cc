#include "measure_server/child_channel.h"

#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hone::measure {
namespace {

struct MessageHeader {
  uint32_t word;
  uint64_t number;
};

struct RoundHeader {
  int64_t warmup_runs;
  double warmup_ns;
  int64_t runs;
};

static_assert(sizeof(MessageHeader) + sizeof(RoundHeader) + kMaxChunks * sizeof(RoundLog::Chunk) <=
              kMaxMessageBytes);

constexpr int64_t kMaxRuns = 10'000'000;  // of a chunk, and of the warm-up

}  // namespace

bool MakeChannel(int* parent_end, int* child_end) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  *parent_end = ends[0];
  *child_end = ends[1];
  return true;
}

void SendCommand(int fd, Command command) {
  const char byte = static_cast<char>(command);
  (void)!send(fd, &byte, 1, MSG_NOSIGNAL);
}

Command ReceiveCommand(int fd) {
  char byte = 0;
  if (recv(fd, &byte, 1, 0) != 1) return Command::kEnd;
  return static_cast<Command>(byte);
}

void Say(int fd, Word word, uint64_t number, std::string_view bytes) {
  const MessageHeader header{static_cast<uint32_t>(word), number};
  std::string message(reinterpret_cast<const char*>(&header), sizeof(header));
  message += bytes.substr(0, kMaxMessageBytes - sizeof(header));
  (void)!send(fd, message.data(), message.size(), MSG_NOSIGNAL);
}

std::optional<ChildMessage> Hear(int fd) {
  std::string bytes(kMaxMessageBytes, 0);
  const ssize_t count = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  MessageHeader header{};
  if (count < static_cast<ssize_t>(sizeof(header))) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const auto size = static_cast<size_t>(count);
  return ChildMessage{static_cast<Word>(header.word), header.number,
                      bytes.substr(sizeof(header), size - sizeof(header))};
}

std::string EncodeRound(const RoundLog& log) {
  const RoundHeader header{log.warmup_runs, log.warmup_ns, log.runs};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char*>(log.chunks.data()),
               log.chunks.size() * sizeof(RoundLog::Chunk));
  return bytes;
}

std::optional<RoundLog> DecodeRound(std::string_view bytes) {
  RoundHeader header{};
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes.remove_prefix(sizeof(header));
  const size_t count = bytes.size() / sizeof(RoundLog::Chunk);
  if (bytes.size() % sizeof(RoundLog::Chunk) != 0 || count > kMaxChunks) return std::nullopt;
  RoundLog log{header.warmup_runs, header.warmup_ns, header.runs,
               std::vector<RoundLog::Chunk>(count)};
  if (count > 0) std::memcpy(log.chunks.data(), bytes.data(), bytes.size());
  const bool is_sound =
      log.warmup_runs >= 1 && log.warmup_runs <= kMaxRuns && log.runs >= 1 &&
      log.runs <= kMaxRuns && std::isfinite(log.warmup_ns) && log.warmup_ns >= 0 &&
      std::all_of(log.chunks.begin(), log.chunks.end(), [](const RoundLog::Chunk& chunk) {
        return IsTime(chunk.wall_ns) && IsTime(chunk.calibrator_ns) &&
               std::isfinite(chunk.excess) && chunk.is_clean <= 1;
      });
  if (!is_sound) return std::nullopt;
  return log;
}

}  // namespace hone::measure
