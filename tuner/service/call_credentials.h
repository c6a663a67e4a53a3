// What a call says of who makes it.
#ifndef HONE_TUNER_SERVICE_CALL_CREDENTIALS_H_
#define HONE_TUNER_SERVICE_CALL_CREDENTIALS_H_

#include <grpcpp/security/auth_context.h>
#include <grpcpp/support/string_ref.h>

#include <map>
#include <string>

namespace hone::tuner {

// "Bearer TOKEN" of the call's metadata; empty where there is none, or something else, or two.
std::string TokenIn(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata);

// The common name of the certificate that the client proved to have; empty where it has none.
std::string CertificateNameIn(const grpc::AuthContext& context);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_CALL_CREDENTIALS_H_
