// One running hone-builder, and the two pipes to it.
#ifndef HONE_TUNER_BUILDER_CLIENT_BUILDER_PROCESS_H_
#define HONE_TUNER_BUILDER_CLIENT_BUILDER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tuner/builder/client/frames.h"

namespace hone::tuner {

// The destructor kills and reaps the process. The process also ends by itself when its stdin is
// closed, so a daemon that dies leaves none behind. Not thread-safe.
class BuilderProcess {
 public:
  // kNotFound where the executable is missing.
  static absl::StatusOr<std::unique_ptr<BuilderProcess>> Start(const std::string& executable);
  ~BuilderProcess();
  BuilderProcess(const BuilderProcess&) = delete;
  BuilderProcess& operator=(const BuilderProcess&) = delete;

  absl::Status Send(std::string_view message) { return WriteFrame(to_, message); }
  absl::StatusOr<std::string> Receive(int64_t limit_ns) { return reader_.Read(limit_ns); }
  pid_t pid() const { return pid_; }

 private:
  BuilderProcess(pid_t pid, int to, int from) : pid_(pid), to_(to), from_(from), reader_(from) {}

  pid_t pid_;
  int to_;
  int from_;
  FrameReader reader_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_BUILDER_CLIENT_BUILDER_PROCESS_H_
