// LogService of proto/hone/v1/log.proto.
#ifndef HONE_TUNER_SERVICE_LOG_SERVICE_H_
#define HONE_TUNER_SERVICE_LOG_SERVICE_H_

#include <memory>

#include "tuner/job_reporter.h"
#include "tuning_db/store.h"

namespace grpc {
class Service;
}

namespace hone::tuner {

// Newest records first. Both outlive the server that the service is part of.
std::unique_ptr<grpc::Service> MakeLogService(tuning_db::Store* store, JobReporter* reporter);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_LOG_SERVICE_H_
