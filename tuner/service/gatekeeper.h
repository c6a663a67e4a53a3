// Lets callers in by their tokens and certificates.
#ifndef HONE_TUNER_SERVICE_GATEKEEPER_H_
#define HONE_TUNER_SERVICE_GATEKEEPER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/clock.h"
#include "tuner/service/callers.h"
#include "tuning_db/grant_store.h"

namespace hone::tuner {

// Keeps who may call according to the tuning database, as of the last Refresh. Thread-safe.
class Gatekeeper final : public Callers {
 public:
  // A call that was let in or refused, for the audit log.
  struct Decision {
    std::string caller;  // empty: not known
    std::string method;
    absl::Status status;
  };
  using Witness = std::function<void(const Decision&)>;

  // The store, the clock and what the witness uses outlive it; the witness may be empty.
  Gatekeeper(tuning_db::GrantStore* store, const Clock* clock, Witness witness)
      : store_(store), clock_(clock), witness_(std::move(witness)) {}

  // Reads the grants from the store again, and ends the calls of those who have none any more.
  // Where the store fails, the grants read before stay valid.
  absl::Status Refresh();

  // Finds the caller with this token, or with a certificate of this common name (either may be
  // empty), and checks whether it may call the method. kUnauthenticated for an unknown caller,
  // kPermissionDenied for one whose role does not allow the method.
  absl::StatusOr<Caller> Admit(std::string_view token, std::string_view certificate_name,
                               std::string_view method) const;

  // ---- Callers ----
  Caller Of(const grpc::ServerContextBase& context) const override;
  std::unique_ptr<LiveCall> Hold(grpc::CallbackServerContext& context) override;

 private:
  struct Held;
  using Grant = tuning_db::Grant;

  // The grant that is valid now, or nullptr. Requires the mutex.
  const Grant* Find(std::string_view token, std::string_view certificate_name) const;
  const Grant* FindFor(const grpc::ServerContextBase& context) const;

  tuning_db::GrantStore* const store_;
  const Clock* const clock_;
  const Witness witness_;

  mutable std::mutex mutex_;  // guards all below
  std::unordered_map<std::string, Grant> by_digest_;
  std::unordered_map<std::string, Grant> by_certificate_;
  // The long-lived calls, by the grant with which each was let in.
  std::multimap<int64_t, grpc::CallbackServerContext*> live_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_GATEKEEPER_H_
