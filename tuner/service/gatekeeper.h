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

// Knows what the tuning database says of who may call, as of the last Refresh. Thread-safe.
class Gatekeeper final : public Callers {
 public:
  // What was let in or refused, for the log of audits.
  struct Decision {
    std::string caller;  // empty: not known
    std::string method;
    absl::Status status;
  };
  using Witness = std::function<void(const Decision&)>;

  // The store, clock and witness (which may be empty) outlive it.
  Gatekeeper(tuning_db::GrantStore* store, const Clock* clock, Witness witness)
      : store_(store), clock_(clock), witness_(std::move(witness)) {}

  // Reads the store anew, and ends the calls of those who have no grant any more. Where the store
  // fails, what was known holds on.
  absl::Status Refresh();

  // Who calls with this token, or with a certificate of this common name (either may be empty), and
  // whether it may call the method. kUnauthenticated for one who is not known, kPermissionDenied
  // for one whose role does not allow it.
  absl::StatusOr<Caller> Admit(std::string_view token, std::string_view certificate_name,
                               std::string_view method) const;

  // ---- Callers ----
  Caller Of(const grpc::ServerContextBase& context) const override;
  std::unique_ptr<LiveCall> Hold(grpc::CallbackServerContext& context) override;

 private:
  struct Held;
  using Grant = tuning_db::Grant;

  // What holds now, or nullptr. With the mutex held.
  const Grant* Find(std::string_view token, std::string_view certificate_name) const;
  const Grant* FindFor(const grpc::ServerContextBase& context) const;

  tuning_db::GrantStore* const store_;
  const Clock* const clock_;
  const Witness witness_;

  mutable std::mutex mutex_;  // guards all below
  std::unordered_map<std::string, Grant> by_digest_;
  std::unordered_map<std::string, Grant> by_certificate_;
  // The calls that last, by the grant they came in by.
  std::multimap<int64_t, grpc::CallbackServerContext*> live_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_GATEKEEPER_H_
