#include "cli/service_address.h"

#include <cstdlib>
#include <optional>

#include "cli/model_options.h"
#include "fmt/format.h"
#include "support/daemon_address.h"
#include "support/status.h"
#include "transport/server_address.h"
#include "tuning_db/store.h"

namespace hone::cli {
namespace {

// A user who works with one farm says once where it is.
constexpr const char* kVariable = "HONE_SERVER";

}  // namespace

absl::StatusOr<std::string> NamedServer(const std::string& server, const std::string& database) {
  const char* const of_environment = std::getenv(kVariable);
  const bool asks_environment = server.empty() && database.empty() && of_environment != nullptr;
  const std::string named = asks_environment ? of_environment : server;
  if (named.empty()) return named;
  const absl::Status read = ReadServerAddress(named).status();
  if (read.ok()) return named;
  if (!asks_environment) return read;
  return absl::Status(read.code(), fmt::format("{}: {}", kVariable, std::string(read.message())));
}

absl::StatusOr<std::string> ServiceAddress(const std::string& server, const std::string& database) {
  HONE_ASSIGN_OR_RETURN(const std::string named, NamedServer(server, database));
  if (!named.empty()) return named;
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
      "expected a running honed that holds {}, found none; name one with --server", path));
}

std::string ServerName(const std::string& address) {
  const absl::StatusOr<ServerAddress> read = ReadServerAddress(address);
  return read.ok() ? read->Name() : address;
}

std::string ServerArgument(const std::string& address) {
  return address.starts_with("hone://") ? "JOIN_STRING" : address;
}

}  // namespace hone::cli
