// TuningService of proto/hone/v1/tuning.proto.
#ifndef HONE_TUNER_SERVICE_TUNING_SERVICE_H_
#define HONE_TUNER_SERVICE_TUNING_SERVICE_H_

#include <memory>

#include "tuner/executor.h"
#include "tuner/job_reporter.h"
#include "tuner/jobs/tuning_loop.h"
#include "tuner/lowerer.h"
#include "tuner/metered.h"
#include "tuner/service/callers.h"
#include "tuner/service/event_hub.h"
#include "tuner/service/job_desk.h"
#include "tuning_db/store.h"

namespace grpc {
class Service;
}

namespace hone::tuner {

struct TuningServiceParts {
  tuning_db::Store* store = nullptr;
  Lowerer* lowerer = nullptr;
  JobDesk* desk = nullptr;
  JobReporter* reporter = nullptr;
  TuningLoop* loop = nullptr;
  EventHub* hub = nullptr;
  Executor* watchers = nullptr;  // where events are read for streams
  const PhaseSeconds* phase_seconds = nullptr;
  Callers* callers = nullptr;
};

// Everything in `parts` outlives the server that the service is part of.
std::unique_ptr<grpc::Service> MakeTuningService(TuningServiceParts parts);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_TUNING_SERVICE_H_
