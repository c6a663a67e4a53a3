#include "cli/daemon_channel.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <optional>

#include "cli/model_options.h"
#include "fmt/format.h"
#include "support/daemon_address.h"
#include "support/status.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

constexpr std::chrono::seconds kCallLimit(30);

}  // namespace

absl::StatusOr<std::string> ServiceAddress(const std::string& server, const std::string& database) {
  if (!server.empty()) return server;
  HONE_ASSIGN_OR_RETURN(const std::optional<tuning_db::Writer> writer,
                        tuning_db::WriterOf(DatabasePath(database)));
  if (writer) return IsService(*writer) ? writer->address : "";
  if (!database.empty()) return "";
  const absl::StatusOr<std::string> socket = DialableDefaultSocket();
  return socket.ok() && IsServed(*socket) ? "unix:" + *socket : "";
}

absl::StatusOr<std::string> DaemonAddress(const std::string& server, const std::string& database) {
  HONE_ASSIGN_OR_RETURN(std::string address, ServiceAddress(server, database));
  if (!address.empty()) return address;
  if (database.empty()) HONE_RETURN_IF_ERROR(DialableDefaultSocket().status());
  const std::string path = DatabasePath(database);
  HONE_ASSIGN_OR_RETURN(const std::optional<tuning_db::Writer> writer, tuning_db::WriterOf(path));
  if (writer) {
    return absl::FailedPreconditionError(
        fmt::format("expected a honed that serves {}, found it in use by {}, which serves nobody "
                    "else; wait until that has ended",
                    path, Describe(*writer)));
  }
  return absl::UnavailableError(fmt::format(
      "expected a running honed that holds {}, found none; name one with --server unix:PATH",
      path));
}

std::shared_ptr<grpc::Channel> DialDaemon(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::Status CallDaemon(const std::string& address,
                        const std::function<grpc::Status(grpc::ClientContext*)>& call) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallLimit);
  return FromGrpc(call(&context), address);
}

absl::Status FromGrpc(const grpc::Status& status, const std::string& address) {
  if (status.ok()) return absl::OkStatus();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE ||
      status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::UnavailableError(fmt::format(
        "expected a tuning server at {}, could not reach one: is honed running there? ({})",
        address, status.error_message()));
  }
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  if (!status.error_message().empty()) return absl::Status(code, status.error_message());
  return absl::Status(code, fmt::format("the tuning server at {} answers {} and no more", address,
                                        absl::StatusCodeToString(code)));
}

}  // namespace hone::cli
