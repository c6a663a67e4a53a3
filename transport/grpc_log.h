// Where gRPC's own messages go.
#ifndef HONE_TRANSPORT_GRPC_LOG_H_
#define HONE_TRANSPORT_GRPC_LOG_H_

namespace hone {

// Sends gRPC's messages to this program's log, in its format. A place in gRPC that repeats itself
// gets at most five lines in ten seconds. That a client dials a server by a name that its
// certificate does not have is said once, in a sentence of ours, because names are not compared
// (decision 28). Call this before gRPC is used.
void LogWhatGrpcSays();

}  // namespace hone

#endif  // HONE_TRANSPORT_GRPC_LOG_H_
