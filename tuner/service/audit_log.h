// A file of who was refused, and who changed what.
#ifndef HONE_TUNER_SERVICE_AUDIT_LOG_H_
#define HONE_TUNER_SERVICE_AUDIT_LOG_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "support/clock.h"
#include "tuner/service/gatekeeper.h"

namespace spdlog {
class logger;
}

namespace hone::tuner {

// A JSON object a line: when, who from where, which method, what it was about, what came of it.
// Calls that only read are in it where they were refused. The file is replaced by the next at ten
// megabytes, and four older ones are kept, so that somebody who is refused all day fills no disk.
// Thread-safe.
class AuditLog {
 public:
  // kInvalidArgument for a file that cannot be written.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path,
                                                        const Clock* clock);
  // A call that a service was given.
  struct Call {
    std::string caller;
    std::string peer;  // who dialled: "10.0.0.7:4711", "uid:1000"; empty: not known
    std::string method;
    nlohmann::json subject = nlohmann::json::object();  // "job": 7
    std::string outcome;  // the status that was sent: "NOT_FOUND"; "OPEN": of a stream that begins
  };
  void Note(const Call& call);
  // Nothing is noted of who was let in: the call says so when it ends.
  void Note(const Gatekeeper::Decision& decision);

 private:
  void Write(const Call& call);

  AuditLog(std::shared_ptr<spdlog::logger> file, const Clock* clock)
      : file_(std::move(file)), clock_(clock) {}

  const std::shared_ptr<spdlog::logger> file_;
  const Clock* const clock_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_AUDIT_LOG_H_
