// FarmService of proto/hone/v1/farm.proto.
#ifndef HONE_TUNER_SERVICE_FARM_SERVICE_H_
#define HONE_TUNER_SERVICE_FARM_SERVICE_H_

#include <memory>
#include <string>

#include "tuner/farm/dispatcher.h"

namespace grpc {
class Service;
}

namespace hone::tuner {

// `identity` is whose calls it answers ("uid:1000"). The dispatcher outlives the server that the
// service is part of.
std::unique_ptr<grpc::Service> MakeFarmService(Dispatcher* dispatcher, std::string identity);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_FARM_SERVICE_H_
