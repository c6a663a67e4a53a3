// `hone auth`: who may call the daemon over a network.
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/grants.h"
#include "cli/json_document.h"
#include "cli/time_text.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "support/clock.h"
#include "support/output_file.h"
#include "support/status.h"
#include "transport/server_address.h"

namespace hone::cli {
namespace {

constexpr int64_t kOverlapNs = kHourNs;
constexpr int kLongestDays = 36'500;

struct AuthOptions {
  GrantsPlace place;
  std::string name;
  std::string role;
  std::string output;
  int days = 0;
  bool is_certificate = false;
  bool replaces = false;
  bool json = false;
};

nlohmann::json GrantJson(const v1::GrantInfo& grant) {
  return {{"name", grant.name()},
          {"role", grant.role()},
          {"by", grant.is_certificate() ? "certificate" : "token"},
          {"holds", grant.holds()},
          {"made_at_ns", grant.made_at_ns()},
          {"ends_at_ns", grant.ends_at_ns()},
          {"revoked_at_ns", grant.revoked_at_ns()}};
}

std::string When(int64_t at_ns) { return TimeFrom(at_ns, Clock::Real().WallTimeNs()); }

std::string StateOf(const v1::GrantInfo& grant) {
  if (grant.revoked_at_ns() != 0) return "revoked " + When(grant.revoked_at_ns());
  if (grant.ends_at_ns() == 0) return "holds";
  return (grant.holds() ? "ends " : "ended ") + When(grant.ends_at_ns());
}

// What dials with a file of the join string, as far as the role may call anything by it.
std::string WhoDials(const AuthOptions& options) {
  if (options.is_certificate) {
    return fmt::format("hone-measure --certificate FILE --key FILE --join @{} dials with it",
                       options.output);
  }
  const std::string measures = fmt::format("hone-measure --join @{}", options.output);
  const std::string asks = fmt::format("HONE_SERVER=@{} hone job list", options.output);
  if (options.role == "work") return measures + " dials with it";
  if (options.role == "admin") return fmt::format("{} or {} dials with it", asks, measures);
  return asks + " dials with it";
}

// What the new caller dials with, or its token alone where no daemon serves a network.
std::string SecretOf(const v1::AddGrantResponse& added) {
  if (added.host_port().empty()) return added.token();
  return JoinString({.socket = "",
                     .host_port = added.host_port(),
                     .certificate = added.certificate(),
                     .token = added.token()});
}

absl::Status Add(const AuthOptions& options) {
  if (!options.output.empty()) HONE_RETURN_IF_ERROR(ResolveOutput(options.output).status());
  v1::AddGrantRequest request;
  request.set_name(options.name);
  request.set_role(options.role);
  request.set_lasts_ns(options.days * kDayNs);
  request.set_is_certificate(options.is_certificate);
  request.set_replaces(options.replaces);
  request.set_overlap_ns(kOverlapNs);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Grants> grants, OpenGrants(options.place));
  HONE_ASSIGN_OR_RETURN(const v1::AddGrantResponse added, grants->Add(request));
  const std::string secret = SecretOf(added);
  if (!options.output.empty()) {
    HONE_RETURN_IF_ERROR(WriteOwnFile(options.output, secret + "\n"));
  }
  if (options.json) {
    nlohmann::json document = {{"schema", 1}, {"grant", GrantJson(added.grant())}};
    if (options.output.empty()) document["secret"] = secret;
    PrintDocument(document);
    return absl::OkStatus();
  }
  if (added.host_port().empty()) {
    fmt::print(stderr,
               "note: no daemon with a network answers here (honed --listen), so this is the token "
               "alone, without an address to dial\n");
  }
  if (options.output.empty()) {
    fmt::print("{}\n", secret);
  } else if (added.host_port().empty()) {
    fmt::print("{}: {}; the token is in {}\n", options.name, options.role, options.output);
  } else {
    fmt::print("{}: {} in {}; {}\n", options.name, options.role, options.output, WhoDials(options));
  }
  return absl::OkStatus();
}

absl::Status ListGrants(const AuthOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Grants> grants, OpenGrants(options.place));
  HONE_ASSIGN_OR_RETURN(const v1::ListGrantsResponse listed, grants->List());
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const v1::GrantInfo& grant : listed.grants()) list.push_back(GrantJson(grant));
    PrintDocument({{"schema", 1}, {"grants", std::move(list)}});
    return absl::OkStatus();
  }
  fmt::print("{:<24} {:<7} {:<12} {:<14} {}\n", "name", "role", "by", "made", "state");
  for (const v1::GrantInfo& grant : listed.grants()) {
    fmt::print("{:<24} {:<7} {:<12} {:<14} {}\n", grant.name(), grant.role(),
               grant.is_certificate() ? "certificate" : "token", When(grant.made_at_ns()),
               StateOf(grant));
  }
  return absl::OkStatus();
}

absl::Status Revoke(const AuthOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Grants> grants, OpenGrants(options.place));
  HONE_RETURN_IF_ERROR(grants->Revoke(options.name));
  fmt::print("{} may call no more; its streams end within two seconds\n", options.name);
  return absl::OkStatus();
}

CLI::App& AddAuthVerb(CLI::App& auth, const std::string& name, const std::string& help,
                      const std::shared_ptr<AuthOptions>& options) {
  CLI::App& verb = *auth.add_subcommand(name, help);
  if (name != "list") {
    verb.add_option("NAME", options->name, "Of the person, machine or team")->required();
  }
  CLI::Option* db = verb.add_option("--db", options->place.database,
                                    "The tuning database, which keeps who may call");
  verb.add_option("--server", options->place.server,
                  "A running honed: unix:PATH, a join string, or @FILE with one")
      ->excludes(db);
  if (name != "revoke") verb.add_flag("--json", options->json, "Prints one JSON document");
  return verb;
}

}  // namespace

void AddAuth(CLI::App& app, Action& action) {
  auto options = std::make_shared<AuthOptions>();
  CLI::App& auth = *app.add_subcommand("auth", "Who may call a honed over a network");
  auth.require_subcommand(1);
  CLI::App& add = AddAuthVerb(auth, "add", "Lets somebody in, and prints a join string", options);
  add.add_option("--role", options->role, "read, submit (reads too), work, or admin")
      ->required()
      ->check(CLI::IsMember({"read", "submit", "work", "admin"}));
  add.add_option("--days", options->days, "How long it holds (default: until it is revoked)")
      ->check(CLI::Range(1, kLongestDays));
  add.add_flag("--certificate", options->is_certificate,
               "By a client certificate with this common name (honed --client-authority)");
  add.add_flag("--replace", options->replaces,
               "Gives the name a new token; the one before holds for another hour");
  add.add_option("--output", options->output, "Writes the join string into a file of mode 0600");
  add.callback([options, &action] { action = [options] { return Add(*options); }; });
  AddAuthVerb(auth, "list", "Lists who may call, or might", options).callback([options, &action] {
    action = [options] { return ListGrants(*options); };
  });
  AddAuthVerb(auth, "revoke", "Lets somebody in no more", options).callback([options, &action] {
    action = [options] { return Revoke(*options); };
  });
}

}  // namespace hone::cli
