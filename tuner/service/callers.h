// How a service learns who made a call.
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

// A call that lasts: while this lives, the call is ended where its caller loses its grant.
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
  // Cancels the call once its caller has no grant any more, at once where it has none already. The
  // context outlives what is returned.
  virtual std::unique_ptr<LiveCall> Hold(grpc::CallbackServerContext& context) = 0;
};

// Everybody is the same: the one who dialled a Unix socket, whom the kernel names.
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
