// The messages between the process of a candidate and the zygote, over a socket. The child obeys
// commands. What it says is bounded and checked, since the candidate's code may have damaged its
// memory.
#ifndef HONE_MEASURE_SERVER_CHILD_CHANNEL_H_
#define HONE_MEASURE_SERVER_CHILD_CHANNEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "measure_server/run_protocol.h"
#include "measure_server/timing.h"

namespace hone::measure {

// What the zygote tells a child to do, in one byte. Each comment ends with the word that the child
// answers. A child also takes the end of the stream for kEnd. The zygote itself sends no kEnd: it
// ends a child by killing it.
enum class Command : char {
  kBegin = 'b',    // go on, to a child that was started ahead; answer: kDescribed
  kCheck = 'c',    // run once on the next input set; answer: kRan
  kRound = 't',    // time one round; answer: kRound
  kOutputs = 'o',  // copy what the timed runs computed to the shared memory; answer: kOutputs
  kEnd = 'e',
};

// What a child says. The comments describe the number and the bytes of its ChildMessage.
enum class Word : uint32_t {
  kStage,      // number: the RunStage that begins
  kDescribed,  // bytes: a piece of its KernelDescription; number: how many bytes are still to come
  kRan,
  kReady,    // for rounds; number: 1 if its constants rotate
  kRound,    // bytes: a RoundLog
  kOutputs,  // the outputs are copied
  kDone,     // the reference is written
  kFailed,   // number: a RunOutcome; bytes: a sentence
};

struct ChildMessage {
  Word word = Word::kStage;
  uint64_t number = 0;
  std::string bytes;
};

inline constexpr size_t kMaxMessageBytes = 48 << 10;

// Makes a socket that keeps messages whole, and returns its two ends. False with errno if that
// fails.
bool MakeChannel(int* parent_end, int* child_end);

void SendCommand(int fd, Command command);
// Blocks until a command comes.
Command ReceiveCommand(int fd);

void Say(int fd, Word word, uint64_t number = 0, std::string_view bytes = {});
// Does not block: nullopt if there is no whole message.
std::optional<ChildMessage> Hear(int fd);

std::string EncodeRound(const RoundLog& log);
// nullopt if the bytes are not an encoded round with at most kMaxChunks chunks, or if its numbers
// are impossible.
std::optional<RoundLog> DecodeRound(std::string_view bytes);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CHILD_CHANNEL_H_
