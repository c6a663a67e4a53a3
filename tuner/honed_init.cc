#include "tuner/honed_init.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "support/clock.h"
#include "support/host_name.h"
#include "support/status.h"
#include "transport/server_address.h"
#include "tuner/add_grant.h"
#include "tuner/server_identity.h"
#include "tuning_db/store.h"

namespace hone::tuner {
namespace {

constexpr const char* kAdministrator = "admin";

// "farm:7070" is dialled as "farm".
std::string HostOf(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return host;
}

std::vector<std::string> NamesOf(const InitOptions& options) {
  std::vector<std::string> names = {HostOf(options.address)};
  for (const std::string& name : options.names) names.push_back(name);
  for (const std::string& name : {HostName(), std::string("localhost")}) names.push_back(name);
  std::vector<std::string> distinct;
  for (const std::string& name : names) {
    if (std::find(distinct.begin(), distinct.end(), name) == distinct.end()) {
      distinct.push_back(name);
    }
  }
  return distinct;
}

int64_t NowS(const Clock& clock) { return clock.WallTimeNs() / kSecondNs; }

}  // namespace

absl::StatusOr<std::string> InitServer(const InitOptions& options, const Clock& clock) {
  ServerAddress address;
  address.host_port = options.address;
  address.certificate = std::string(64, '0');
  // A join string that nobody could read is found before anything is made.
  HONE_RETURN_IF_ERROR(ParseServerAddress(JoinString(address)).status());
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<tuning_db::Store> store,
                        tuning_db::OpenStore(options.db, tuning_db::OpenMode::kCreate));
  const ServerIdentity identity(options.tls);
  HONE_RETURN_IF_ERROR(identity.Make(NamesOf(options), NowS(clock)));
  HONE_ASSIGN_OR_RETURN(address.certificate, identity.Fingerprint());
  // The tokens of an identity that is gone let nobody in any more.
  HONE_ASSIGN_OR_RETURN(
      const NewGrant granted,
      AddGrantTo(*store, clock, {.name = kAdministrator, .role = "admin", .overlap_ns = 0}));
  address.token = granted.token;
  return JoinString(address);
}

absl::Status RenewServer(const InitOptions& options, const Clock& clock) {
  return ServerIdentity(options.tls).Renew(NamesOf(options), NowS(clock));
}

std::string DefaultAddress() { return fmt::format("{}:7070", HostName()); }

}  // namespace hone::tuner
