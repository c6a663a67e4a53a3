// What the process of a candidate and the zygote say to each other: messages over a socket. The
// child answers commands, and what it says is bounded and checked: candidate code may have spoilt
// its memory.
#ifndef HONE_MEASURE_SERVER_CHILD_CHANNEL_H_
#define HONE_MEASURE_SERVER_CHILD_CHANNEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "measure_server/run_protocol.h"
#include "measure_server/timing.h"

namespace hone::measure {

// A byte each. The end of the stream means kEnd; to be done with a child is to kill it.
enum class Command : char {
  kCheck = 'c',    // run once on the next input set: kRan
  kRound = 't',    // time one round: kRound
  kOutputs = 'o',  // copy what the timed runs computed into the shared memory: kOutputs
  kEnd = 'e',
};

enum class Word : uint32_t {
  kStage,      // number: what it does now, a RunStage
  kDescribed,  // a piece of its KernelDescription; number: how many bytes follow in others
  kRan,
  kReady,    // for rounds; number: 1 where its constants rotate
  kRound,    // a RoundLog
  kOutputs,  // copied
  kDone,     // the reference is written
  kFailed,   // number: a RunOutcome; with a sentence
};

struct ChildMessage {
  Word word = Word::kStage;
  uint64_t number = 0;
  std::string bytes;
};

inline constexpr size_t kMaxMessageBytes = 48 << 10;

// A socket's two ends; false with errno. Whole messages go in and come out.
bool MakeChannel(int* parent_end, int* child_end);

void SendCommand(int fd, Command command);
// Blocks until a command comes.
Command ReceiveCommand(int fd);

void Say(int fd, Word word, uint64_t number = 0, std::string_view bytes = {});
// Does not block: nullopt where there is no whole message.
std::optional<ChildMessage> Hear(int fd);

std::string EncodeRound(const RoundLog& log);
// nullopt: no encoding of one with at most kMaxChunks chunks, or its numbers cannot be.
std::optional<RoundLog> DecodeRound(std::string_view bytes);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CHILD_CHANNEL_H_
