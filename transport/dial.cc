#include "transport/dial.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "support/clock.h"
#include "transport/certificates.h"

namespace hone {
namespace {

namespace tls = grpc::experimental;

// How often the client's own certificate is read again.
constexpr unsigned kRefreshS = 60;

// Shows a certificate's chain to a function, which says whether it is trusted.
class ChainVerifier final : public tls::ExternalCertificateVerifier {
 public:
  using Judge = std::function<absl::Status(const std::string& chain)>;
  explicit ChainVerifier(Judge judge) : judge_(std::move(judge)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
              grpc::Status* answer) override {
    const grpc::string_ref chain = request->peer_cert_full_chain();
    const absl::Status judged = judge_(std::string(chain.data(), chain.size()));
    *answer = judged.ok()
                  ? grpc::Status::OK
                  : grpc::Status(grpc::StatusCode::UNAUTHENTICATED, std::string(judged.message()));
    return true;
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

 private:
  const Judge judge_;
};

// The client's own certificate, where it has one, and an authority that nobody asks: the verifier
// judges. Without one gRPC would read all of the system's, which takes longer than all the rest of
// a connection.
std::shared_ptr<tls::CertificateProviderInterface> ProviderOf(const DialOptions& options) {
  if (!options.certificate_file.empty()) {
    return std::make_shared<tls::FileWatcherCertificateProvider>(
        options.key_file, options.certificate_file, options.certificate_file, kRefreshS);
  }
  const absl::StatusOr<Identity> unasked =
      MakeAuthority("nobody", Clock::Real().WallTimeNs() / kSecondNs, /*days=*/1);
  return std::make_shared<tls::StaticDataCertificateProvider>(unasked.ok() ? unasked->certificate
                                                                           : std::string());
}

class Token final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit Token(std::string token) : value_("Bearer " + std::move(token)) {}

  bool IsBlocking() const override { return false; }
  grpc::Status GetMetadata(grpc::string_ref, grpc::string_ref, const grpc::AuthContext&,
                           std::multimap<std::string, std::string>* metadata) override {
    metadata->emplace("authorization", value_);
    return grpc::Status::OK;
  }
  // gRPC writes this into its logs.
  grpc::string DebugString() override { return "Token"; }

 private:
  const std::string value_;
};

}  // namespace

// Keeps what it thought of the server that answered last.
class DaemonConnection::Verifier {
 public:
  explicit Verifier(std::string fingerprint) : fingerprint_(std::move(fingerprint)) {}

  absl::Status Judge(const std::string& chain) {
    absl::Status judged =
        VerifyServerChain(chain, fingerprint_, Clock::Real().WallTimeNs() / kSecondNs);
    const std::lock_guard lock(mutex_);
    last_ = judged;
    return judged;
  }

  absl::Status last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  const std::string fingerprint_;
  mutable std::mutex mutex_;
  absl::Status last_;
};

DaemonConnection::DaemonConnection(const ServerAddress& address, const DialOptions& options)
    : name_(address.Name()) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveLimitMs);
  if (options.reconnect_ms > 0) {
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, options.reconnect_ms);
    // gRPC takes this for the time that an attempt may take: TLS over a slow line needs some.
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kKeepaliveLimitMs);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, options.reconnect_ms);
  }
  if (address.host_port.empty()) {
    channel_ = grpc::CreateCustomChannel(name_, grpc::InsecureChannelCredentials(), arguments);
    return;
  }
  verifier_ = std::make_shared<Verifier>(address.certificate);
  tls::TlsChannelCredentialsOptions of_tls;
  // The verifier judges the whole chain by the pinned certificate; gRPC would ask the system's
  // authorities, and compare names.
  of_tls.set_verify_server_certs(false);
  of_tls.set_check_call_host(false);
  of_tls.set_certificate_verifier(tls::ExternalCertificateVerifier::Create<ChainVerifier>(
      [verifier = verifier_](const std::string& chain) { return verifier->Judge(chain); }));
  of_tls.set_certificate_provider(ProviderOf(options));
  of_tls.watch_root_certs();
  if (!options.certificate_file.empty()) of_tls.watch_identity_key_cert_pairs();
  std::shared_ptr<grpc::ChannelCredentials> credentials = tls::TlsCredentials(of_tls);
  if (!address.token.empty()) {
    credentials = grpc::CompositeChannelCredentials(
        credentials, grpc::MetadataCredentialsFromPlugin(std::make_unique<Token>(address.token)));
  }
  channel_ = grpc::CreateCustomChannel(address.host_port, credentials, arguments);
}

DaemonConnection::~DaemonConnection() = default;

absl::Status DaemonConnection::StatusOf(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  const bool is_away = status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                       status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  if (is_away && verifier_ != nullptr && !verifier_->last().ok()) {
    return absl::UnauthenticatedError(
        fmt::format("at {} {}", name_, std::string(verifier_->last().message())));
  }
  if (is_away) {
    return absl::UnavailableError(
        fmt::format("expected a tuning server at {}, could not reach one: is honed running there? "
                    "({})",
                    name_, status.error_message()));
  }
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace hone
