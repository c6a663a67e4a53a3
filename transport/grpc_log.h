// Where gRPC's own messages go.
#ifndef HONE_TRANSPORT_GRPC_LOG_H_
#define HONE_TRANSPORT_GRPC_LOG_H_

namespace hone {

// Into this program's log, in its format, instead of beside it; of what one place in gRPC says
// again and again, five lines in ten seconds. That a client dials a server by a name that its
// certificate does not have is said once, in a sentence of ours: names are not compared (decision
// 28). Called before gRPC is used.
void LogWhatGrpcSays();

}  // namespace hone

#endif  // HONE_TRANSPORT_GRPC_LOG_H_
