// FarmService of proto/hone/v1/farm.proto.
#ifndef HONE_TUNER_SERVICE_FARM_SERVICE_H_
#define HONE_TUNER_SERVICE_FARM_SERVICE_H_

#include <memory>

#include "tuner/farm/dispatcher.h"
#include "tuner/service/callers.h"

namespace grpc {
class Service;
}

namespace hone::tuner {

// Both outlive the server that the service is part of.
std::unique_ptr<grpc::Service> MakeFarmService(Dispatcher* dispatcher, Callers* callers);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_FARM_SERVICE_H_
