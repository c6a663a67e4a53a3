#include "tuner/service/tls_door.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "support/file_system.h"
#include "support/status.h"
#include "transport/certificates.h"
#include "tuner/service/call_credentials.h"
#include "tuner/service/grpc_status.h"
#include "tuner/service/rpc_counts.h"
#include "tuner/service/server_limits.h"
#include "tuner/service/tcp_listener.h"

namespace hone::tuner {
namespace {

namespace tls = grpc::experimental;

constexpr unsigned kRefreshS = 1;
constexpr int kHandshakeMs = 10'000;
// Without a call. A client that calls again dials again.
constexpr int kIdleMs = 300'000;

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

struct TlsDoor::Impl {
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<TcpListener> listener;
};

TlsDoor::TlsDoor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<TlsDoor>> TlsDoor::Open(
    const TlsOptions& options, Gatekeeper* gatekeeper,
    std::vector<std::unique_ptr<grpc::Service>> services, RpcCounts* counts) {
  HONE_RETURN_IF_ERROR(CheckFiles(options));
  auto impl = std::make_unique<Impl>();
  impl->services = std::move(services);
  grpc::ServerBuilder builder;
  LimitServer(builder);
  if (counts != nullptr) counts->CountCallsOf(builder);
  for (const std::unique_ptr<grpc::Service>& service : impl->services) {
    builder.RegisterService(service.get());
  }
  // Strangers can open connections; what they leave half-open or idle is closed.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  impl->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      CredentialsOf(options, gatekeeper));
  HONE_ASSIGN_OR_RETURN(impl->listener, TcpListener::Listen(options.listen));
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr) return absl::InternalError("gRPC cannot start a server");
  impl->listener->Serve([acceptor = impl->acceptor.get()](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    acceptor->HandleNewConnection(&connection);
  });
  return std::unique_ptr<TlsDoor>(new TlsDoor(std::move(impl)));
}

TlsDoor::~TlsDoor() {
  impl_->listener->Stop();
  impl_->server->Shutdown(std::chrono::system_clock::now() + kStopGrace);
}

int TlsDoor::port() const { return impl_->listener->port(); }

}  // namespace hone::tuner
