// Tells services who made a call.
#ifndef HONE_TUNER_SERVICE_CALLERS_H_
#define HONE_TUNER_SERVICE_CALLERS_H_

#include <memory>
#include <utility>

#include "tuner/role.h"

namespace grpc {
class CallbackServerContext;
class ServerContextBase;
}  // namespace grpc

namespace hone::tuner {

// Handle of a long-lived call: while this object lives, the call is ended if its caller loses its
// grant.
class LiveCall {
 public:
  virtual ~LiveCall() = default;
};

// Thread-safe.
class Callers {
 public:
  virtual ~Callers() = default;
  // The caller of a call that was let in.
  virtual Caller Of(const grpc::ServerContextBase& context) const = 0;
  // Cancels the call when its caller loses its grant; at once where it has none already. The
  // context outlives the returned object.
  virtual std::unique_ptr<LiveCall> Hold(grpc::CallbackServerContext& context) = 0;
};

// Every call has the same caller: the user who dialled the Unix socket, as the kernel says.
class OneCaller final : public Callers {
 public:
  explicit OneCaller(Caller caller) : caller_(std::move(caller)) {}
  Caller Of(const grpc::ServerContextBase&) const override { return caller_; }
  std::unique_ptr<LiveCall> Hold(grpc::CallbackServerContext&) override { return nullptr; }

 private:
  const Caller caller_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_CALLERS_H_
