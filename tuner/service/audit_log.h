// A file of who was refused, and who changed what.
#ifndef HONE_TUNER_SERVICE_AUDIT_LOG_H_
#define HONE_TUNER_SERVICE_AUDIT_LOG_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "support/clock.h"
#include "tuner/service/gatekeeper.h"

namespace spdlog {
class logger;
}

namespace hone::tuner {

// A JSON object a line: when, who, which method, what came of it. Calls that only read are not in
// it. The file is replaced by the next at ten megabytes, and four older ones are kept, so that
// somebody who is refused all day fills no disk. Thread-safe.
class AuditLog {
 public:
  // kInvalidArgument for a file that cannot be written.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path,
                                                        const Clock* clock);
  void Note(const Gatekeeper::Decision& decision);

 private:
  AuditLog(std::shared_ptr<spdlog::logger> file, const Clock* clock)
      : file_(std::move(file)), clock_(clock) {}

  const std::shared_ptr<spdlog::logger> file_;
  const Clock* const clock_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_AUDIT_LOG_H_
