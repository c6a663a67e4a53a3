// Reads from a call what it says of its caller.
#ifndef HONE_TUNER_SERVICE_CALL_CREDENTIALS_H_
#define HONE_TUNER_SERVICE_CALL_CREDENTIALS_H_

#include <grpcpp/security/auth_context.h>
#include <grpcpp/support/string_ref.h>

#include <map>
#include <string>

namespace hone::tuner {

// The token of the one "Bearer TOKEN" in the call's metadata; empty where there is none, more than
// one, or something else.
std::string TokenIn(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata);

// The common name of the certificate that the client has proved to own; empty where it has none.
std::string CertificateNameIn(const grpc::AuthContext& context);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_CALL_CREDENTIALS_H_
