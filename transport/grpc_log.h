// Where gRPC's own messages go.
#ifndef HONE_TRANSPORT_GRPC_LOG_H_
#define HONE_TRANSPORT_GRPC_LOG_H_

namespace hone {

// Into this program's log, in its format, instead of beside it. Called before gRPC is used.
void LogWhatGrpcSays();

}  // namespace hone

#endif  // HONE_TRANSPORT_GRPC_LOG_H_
