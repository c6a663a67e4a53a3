// Builds in a forked child, so that a build that crashes or hangs does no harm to this process.
#ifndef HONE_TUNER_BUILDER_BATCH_RUNNER_H_
#define HONE_TUNER_BUILDER_BATCH_RUNNER_H_

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "hone/v1/builder.pb.h"
#include "tuner/builder/client/frames.h"

namespace hone::tuner {

// Used in a single-threaded process. One child builds one request after the other, and is kept for
// the next batch, because of what it has loaded and the launches that it has compiled. If a child
// dies or does not answer within the limit, the request is given to a fresh child. The candidate is
// blamed only if the fresh child fails too.
class BatchRunner {
 public:
  // `build` runs in the child. `reply` takes answers as they come; an error ends the run.
  using Build = std::function<hone::v1::BuildReply(const hone::v1::BuildRequest&)>;
  using Reply = std::function<absl::Status(const hone::v1::BuildReply&)>;
  // A run ends when the reader of `watched_fd` is gone (-1: not watched).
  BatchRunner(Build build, Reply reply, int watched_fd)
      : build_(std::move(build)), reply_(std::move(reply)), watched_fd_(watched_fd) {}
  ~BatchRunner();
  BatchRunner(const BatchRunner&) = delete;
  BatchRunner& operator=(const BatchRunner&) = delete;

  // kUnavailable if nobody reads the answers any more; kInternal if no child can be forked.
  absl::Status Run(const hone::v1::BuildBatch& batch);

 private:
  struct Child {
    pid_t pid = -1;
    int requests_fd = -1;
    FrameReader replies;
    int replies_fd = -1;
    int answered = 0;
  };
  struct Died {
    std::string how;
  };
  struct Late {};
  using Outcome = std::variant<hone::v1::BuildReply, Died, Late>;

  absl::StatusOr<hone::v1::BuildReply> BuildInChild(const hone::v1::BuildRequest& request);
  absl::StatusOr<Outcome> Ask(const hone::v1::BuildRequest& request);
  absl::Status EnsureChild();
  [[noreturn]] void BeChild(int requests_fd, int replies_fd, int parent);
  // Reaps the child, after killing it if `kill_it`, and says how it ended.
  std::string Reap(bool kill_it);

  Build build_;
  Reply reply_;
  int watched_fd_;
  std::optional<Child> child_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_BATCH_RUNNER_H_
