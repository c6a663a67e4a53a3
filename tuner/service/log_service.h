// LogService of proto/hone/v1/log.proto.
#ifndef HONE_TUNER_SERVICE_LOG_SERVICE_H_
#define HONE_TUNER_SERVICE_LOG_SERVICE_H_

#include <memory>

#include "tuner/executor.h"
#include "tuning_db/store.h"

namespace grpc {
class Service;
}

namespace hone::tuner {

// Statistics, exports and imports are answered on `slow`, one after the other, since each may take
// a second. The store and `slow` outlive the server that the service is part of.
std::unique_ptr<grpc::Service> MakeLogService(tuning_db::Store* store, Executor* slow);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_LOG_SERVICE_H_
