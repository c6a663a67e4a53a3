// Notes calls in the audit log as they end.
#ifndef HONE_TUNER_SERVICE_AUDIT_INTERCEPTOR_H_
#define HONE_TUNER_SERVICE_AUDIT_INTERCEPTOR_H_

#include <memory>

#include "tuner/service/audit_log.h"
#include "tuner/service/call_interceptors.h"
#include "tuner/service/callers.h"

namespace hone::tuner {

// For a server that learns from `callers` who made a call. Each call is noted with the status that
// its service ended it with; a worker's stream is also noted when it begins. Both arguments outlive
// the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAuditInterceptors(
    AuditLog* log, const Callers* callers);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_AUDIT_INTERCEPTOR_H_
