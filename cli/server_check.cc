#include "cli/server_check.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdlib>

#include "cli/daemon_stub.h"
#include "cli/printable.h"
#include "cli/service_address.h"
#include "fmt/format.h"
#include "hone/v1/auth.grpc.pb.h"
#include "hone/v1/farm.grpc.pb.h"
#include "support/clock.h"
#include "support/version.h"

namespace hone::cli {
namespace {

constexpr std::chrono::seconds kLimit(5);
// Times of tokens, certificates and records are those of each machine's clock.
constexpr int64_t kClockNs = 5 * kSecondNs;
constexpr int64_t kSoonDays = 30;
constexpr int kWorkersAsked = 1000;

Finding Unreachable(const std::string& address, const absl::Status& status) {
  if (absl::IsUnimplemented(status)) {
    return {"server", Level::kWarning,
            fmt::format("{} answers, and is of an older release than this hone {}",
                        ServerName(address), Version()),
            "update honed"};
  }
  const bool is_denied = absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status);
  return {"server", Level::kProblem, Printable(std::string(status.message())),
          is_denied ? "ask its administrator for a new join string (hone auth add)"
                    : "start honed, or name another with --server"};
}

// Something that ends at a time: a token, a certificate.
Finding EndingOf(const char* check, int64_t ends_at_ns, int64_t now_ns, const std::string& advice) {
  if (ends_at_ns == 0) return {check, Level::kOk, "does not end", ""};
  const int64_t days = (ends_at_ns - now_ns) / kDayNs;
  if (ends_at_ns <= now_ns) return {check, Level::kProblem, "has ended", advice};
  const std::string found = fmt::format("ends in {} days", days);
  if (days >= kSoonDays) return {check, Level::kOk, found, ""};
  return {check, Level::kWarning, found, advice};
}

}  // namespace

Findings ReadWhoAmI(const v1::WhoAmIResponse& answer, int64_t now_ns) {
  Findings findings;
  const std::string self = std::string("hone ") + Version();
  const std::string build = Printable(answer.daemon());
  if (answer.daemon() == self) {
    findings.push_back({"server's release", Level::kOk, build, ""});
  } else {
    findings.push_back({"server's release", Level::kWarning,
                        fmt::format("{}, and this is {}", build, self),
                        "bring both to one release: daemons serve clients of theirs and the one "
                        "before"});
  }
  const int64_t off_ns = answer.wall_time_ns() - now_ns;
  const std::string found =
      fmt::format("the server's is {:.1f} s {} ours",
                  std::abs(static_cast<double>(off_ns)) / static_cast<double>(kSecondNs),
                  off_ns < 0 ? "behind" : "before");
  findings.push_back(std::abs(off_ns) < kClockNs
                         ? Finding{"clocks", Level::kOk, found, ""}
                         : Finding{"clocks", Level::kWarning, found,
                                   "set both by NTP: when tokens and certificates end is told by "
                                   "each machine's clock"});
  findings.push_back({"role", Level::kOk,
                      fmt::format("{} as {}", Printable(answer.role()), Printable(answer.name())),
                      ""});
  findings.push_back(EndingOf("token", answer.ends_at_ns(), answer.wall_time_ns(),
                              "hone auth add NAME --replace gives the name another"));
  if (answer.certificate_ends_at_ns() != 0) {
    findings.push_back(EndingOf("certificate", answer.certificate_ends_at_ns(),
                                answer.wall_time_ns(),
                                "honed init --renew on the server's machine gives it another"));
  }
  return findings;
}

Findings ReadWorkers(const v1::ListWorkersResponse& answer) {
  Findings findings;
  int serving = 0;
  for (const v1::WorkerInfo& worker : answer.workers()) {
    int idle = 0;
    for (int i = 0; i < worker.devices_size(); ++i) {
      const std::string& id = worker.devices(i).id();
      const v1::DeviceState state =
          i < worker.device_states_size() ? worker.device_states(i) : v1::DeviceState();
      std::string why = state.barred();
      if (state.is_away()) why = "away: " + state.away_reason();
      const auto resting = worker.quarantined().find(id);
      if (resting != worker.quarantined().end()) why = "in quarantine: " + resting->second;
      for (const v1::Quarantine& by_hand : worker.quarantines()) {
        if (!by_hand.device().empty() && by_hand.device() != id) continue;
        why = fmt::format("put aside by {}: {}", by_hand.by(), by_hand.reason());
      }
      if (why.empty()) continue;
      ++idle;
      findings.push_back(
          {"device", Level::kWarning,
           fmt::format("{} of {}: {}", Printable(id), Printable(worker.worker()), Printable(why)),
           "hone worker show says more; hone worker release ends a quarantine"});
    }
    serving += !worker.draining() && idle < worker.devices_size();
  }
  const std::string more = answer.next_page_token().empty() ? "" : " or more";
  const std::string found =
      fmt::format("{}{} connected, {} of them take work", answer.workers_size(), more, serving);
  findings.insert(findings.begin(),
                  serving > 0 ? Finding{"workers", Level::kOk, found, ""}
                              : Finding{"workers", Level::kWarning, found,
                                        "start hone-measure --join: jobs wait until one is there"});
  return findings;
}

Findings CheckServer(const std::string& address) {
  const DaemonStub<v1::AuthService> auth(address);
  const int64_t before_ns = Clock::Real().WallTimeNs();
  const absl::StatusOr<v1::WhoAmIResponse> who =
      auth.Call(&v1::AuthService::Stub::WhoAmI, v1::WhoAmIRequest(), kLimit);
  const int64_t after_ns = Clock::Real().WallTimeNs();
  if (!who.ok()) return {Unreachable(address, who.status())};
  Findings findings = {{"server", Level::kOk, fmt::format("{} answers", ServerName(address)), ""}};
  const Findings of_who = ReadWhoAmI(*who, before_ns + (after_ns - before_ns) / 2);
  findings.insert(findings.end(), of_who.begin(), of_who.end());
  if (who->role() == "work") return findings;  // it may see no workers
  v1::ListWorkersRequest request;
  request.set_page_size(kWorkersAsked);
  const auto workers = DaemonStub<v1::FarmService>(address).Call(
      &v1::FarmService::Stub::ListWorkers, request, kLimit);
  if (!workers.ok()) {
    findings.push_back({"workers", Level::kProblem, std::string(workers.status().message()),
                        "look at honed's log"});
    return findings;
  }
  const Findings of_workers = ReadWorkers(*workers);
  findings.insert(findings.end(), of_workers.begin(), of_workers.end());
  return findings;
}

}  // namespace hone::cli
