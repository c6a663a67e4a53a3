// The audit log: a file of which calls were refused, and of who changed what.
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

// Each line is a JSON object that says when, who from where, which method, what it was about, and
// what came of it. Calls that only read are noted only if they were refused. At ten megabytes a new
// file is begun, and four older ones are kept, so that a caller who is refused all day does not
// fill the disk. Thread-safe.
class AuditLog {
 public:
  // kInvalidArgument for a file that cannot be written.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path,
                                                        const Clock* clock);
  // A call that reached a service.
  struct Call {
    std::string caller;
    std::string peer;  // who dialled: "10.0.0.7:4711", "uid:1000"; empty: not known
    std::string method;
    nlohmann::json subject = nlohmann::json::object();  // "job": 7
    std::string outcome;  // the status that was sent: "NOT_FOUND"; "OPEN": of a stream that begins
  };
  void Note(const Call& call);
  // Notes a refusal at the door; nothing for a call that was let in.
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
