// hone-builder: builds candidates for the daemon that started it. Reads batches from stdin, writes
// replies to stdout (proto/hone/v1/builder.proto), and ends when either is closed. Single-threaded,
// so that it may fork at any time.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "compiler/codegen/link.h"
#include "tuner/builder/batch_runner.h"
#include "tuner/builder/build_request.h"
#include "tuner/builder/client/frames.h"
#include "tuner/builder/test_fault.h"

namespace {

namespace v1 = hone::v1;

absl::Status Reply(const v1::BuildReply& reply) {
  return hone::tuner::WriteFrame(STDOUT_FILENO, reply.SerializeAsString());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "usage: %s < batches > replies (started by honed)\n", argv[0]);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // inherited as ignored, it would hide how children end
  hone::tuner::FrameReader requests(STDIN_FILENO);
  hone::codegen::LaunchCache cache;  // filled by the child, and gone with it
  const auto build = [&cache](const v1::BuildRequest& request) {
    if (!hone::codegen::CanLink()) _exit(1);  // a fresh child gets the request
    hone::tuner::InjectFault(request);
    return hone::tuner::BuildOne(request, cache);
  };
  if (!hone::tuner::WriteFrame(STDOUT_FILENO, hone::tuner::HelloOfBuilder().SerializeAsString())
           .ok()) {
    return 0;
  }
  hone::tuner::BatchRunner runner(build, Reply, STDOUT_FILENO);
  while (true) {
    const auto message = requests.Read(/*limit_ns=*/-1);
    if (!message.ok()) return message.status().code() == absl::StatusCode::kUnavailable ? 0 : 1;
    v1::BuildBatch batch;
    if (!batch.ParseFromString(*message)) {
      std::fprintf(stderr, "hone-builder: expected a BuildBatch on stdin, found something else\n");
      return 1;
    }
    if (const absl::Status status = runner.Run(batch); !status.ok()) {
      std::fprintf(stderr, "hone-builder: %s\n", std::string(status.message()).c_str());
      return 1;
    }
  }
}
