// Where gRPC's own messages go.
#ifndef HONE_TRANSPORT_GRPC_LOG_H_
#define HONE_TRANSPORT_GRPC_LOG_H_

namespace hone {

// Sends gRPC's messages to this program's log, in its format. Each line of gRPC's code may log at
// most five messages in ten seconds. gRPC's server complains whenever a client dials it by a name
// that its certificate does not have. Since names are not compared (decision 28), this is logged
// only once, as a sentence that explains it. Call this before gRPC is used.
void LogWhatGrpcSays();

}  // namespace hone

#endif  // HONE_TRANSPORT_GRPC_LOG_H_
