// Runs batches of builds in forked children, so that a build that crashes or hangs takes nobody
// with it.
#ifndef HONE_TUNER_BUILDER_BATCH_RUNNER_H_
#define HONE_TUNER_BUILDER_BATCH_RUNNER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/builder.pb.h"

namespace hone::tuner {

// Of a single-threaded process. A child builds requests in their order; the one that is not
// answered within its limit is the one that hangs. When a child dies, what is left of its batch is
// built one by one, which shows who kills.
class BatchRunner {
 public:
  // `build` runs in the child. `reply` takes answers as they come; an error ends the run.
  using Build = std::function<hone::v1::BuildReply(const hone::v1::BuildRequest&)>;
  using Reply = std::function<absl::Status(const hone::v1::BuildReply&)>;
  // `watched_fd`: where nobody reads any more, the run ends (-1: none).
  BatchRunner(Build build, Reply reply, int watched_fd)
      : build_(std::move(build)), reply_(std::move(reply)), watched_fd_(watched_fd) {}

  // kUnavailable where nobody wants the answers; kInternal where no child can be made.
  absl::Status Run(const hone::v1::BuildBatch& batch);

 private:
  using Requests = std::vector<const hone::v1::BuildRequest*>;
  enum class End { kDone, kDied, kTimeout };
  struct ChildEnd {
    End end = End::kDone;
    size_t answered = 0;
    std::string how;  // it died
  };

  // Builds all in one child.
  absl::StatusOr<ChildEnd> RunChild(const Requests& requests);
  absl::Status Collect(const Requests& requests, int fd, ChildEnd& end);
  [[noreturn]] void BeChild(const Requests& requests, int fd, int parent);
  absl::Status ReplyFailure(const hone::v1::BuildRequest& request, hone::v1::BuildOutcome outcome,
                            std::string message);

  Build build_;
  Reply reply_;
  int watched_fd_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_BATCH_RUNNER_H_
