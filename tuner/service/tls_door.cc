#include "tuner/service/tls_door.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "support/file_system.h"
#include "support/status.h"
#include "transport/certificates.h"
#include "tuner/service/call_credentials.h"
#include "tuner/service/grpc_status.h"

namespace hone::tuner {
namespace {

namespace tls = grpc::experimental;

constexpr unsigned kRefreshS = 1;

// gRPC shows it every call before a handler runs.
class Gate final : public grpc::AuthMetadataProcessor {
 public:
  explicit Gate(Gatekeeper* gatekeeper) : gatekeeper_(gatekeeper) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context, OutputMetadata*,
                       OutputMetadata*) override {
    const auto path = metadata.find(":path");
    const std::string method =
        path == metadata.end() ? "" : std::string(path->second.data(), path->second.size());
    const auto caller = gatekeeper_->Admit(TokenIn(metadata), CertificateNameIn(*context), method);
    return ToGrpc(caller.status());
  }

 private:
  Gatekeeper* const gatekeeper_;
};

absl::Status CheckFiles(const TlsOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string key, ReadFile(options.key_file));
  HONE_ASSIGN_OR_RETURN(const std::string certificate, ReadFile(options.certificate_file));
  struct stat facts = {};
  if (stat(options.key_file.c_str(), &facts) != 0 || (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "expected that nobody else may read the key {}; chmod 600 it", options.key_file));
  }
  HONE_RETURN_IF_ERROR(FingerprintOf(certificate).status());
  if (!BelongTogether({key, certificate})) {
    return absl::InvalidArgumentError(fmt::format("expected the key of the certificate {} in {}",
                                                  options.certificate_file, options.key_file));
  }
  if (options.client_authority_file.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const std::string authority, ReadFile(options.client_authority_file));
  return FingerprintOf(authority).status();
}

std::shared_ptr<grpc::ServerCredentials> CredentialsOf(const TlsOptions& options,
                                                       Gatekeeper* gatekeeper) {
  const bool asks_clients = !options.client_authority_file.empty();
  tls::TlsServerCredentialsOptions of_tls(std::make_shared<tls::FileWatcherCertificateProvider>(
      options.key_file, options.certificate_file, options.client_authority_file, kRefreshS));
  of_tls.watch_identity_key_cert_pairs();
  if (asks_clients) of_tls.watch_root_certs();
  of_tls.set_cert_request_type(asks_clients ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY
                                            : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  of_tls.set_check_call_host(false);
  std::shared_ptr<grpc::ServerCredentials> credentials = tls::TlsServerCredentials(of_tls);
  credentials->SetAuthMetadataProcessor(std::make_shared<Gate>(gatekeeper));
  return credentials;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TlsDoor>> TlsDoor::Open(
    const TlsOptions& options, Gatekeeper* gatekeeper,
    std::vector<std::unique_ptr<grpc::Service>> services, CallInterceptors interceptors) {
  HONE_RETURN_IF_ERROR(CheckFiles(options));
  HONE_ASSIGN_OR_RETURN(auto listener, TcpListener::Listen(options.listen));
  HONE_ASSIGN_OR_RETURN(auto door, Door::Open(std::move(services), std::move(interceptors),
                                              CredentialsOf(options, gatekeeper)));
  listener->Serve([to = door.get()](int fd) { to->Take(fd); });
  return std::unique_ptr<TlsDoor>(new TlsDoor(std::move(door), std::move(listener)));
}

}  // namespace hone::tuner
