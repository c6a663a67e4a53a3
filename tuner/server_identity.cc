#include "tuner/server_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/daemon_address.h"
#include "support/file_system.h"
#include "support/output_file.h"
#include "support/status.h"
#include "transport/certificates.h"
#include "tuning_db/store.h"

namespace hone::tuner {
namespace {

constexpr const char* kAuthorityKey = "authority.key";
constexpr const char* kAuthorityCertificate = "authority.crt";
constexpr const char* kServerKey = "server.key";
constexpr const char* kServerCertificate = "server.crt";
constexpr mode_t kOwnFolder = 0700;

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  if (mkdir(folder.c_str(), kOwnFolder) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, "make", folder);
  }
  const std::string why = WhyNotPrivate(folder);
  if (why.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      fmt::format("expected a folder for keys that is this user's alone: {}", why));
}

}  // namespace

absl::Status ServerIdentity::Make(const std::vector<std::string>& names, int64_t now_s) const {
  HONE_RETURN_IF_ERROR(MakeFolder(folder_));
  if (access(PathOf(kServerCertificate).c_str(), F_OK) == 0) {
    return absl::FailedPreconditionError(
        fmt::format("{} holds the identity of a daemon already, which its clients trust; `honed "
                    "init --renew` gives it a new certificate, --tls FOLDER names another place",
                    folder_));
  }
  HONE_ASSIGN_OR_RETURN(const Identity authority,
                        MakeAuthority("hone at " + names.at(0), now_s, kAuthorityDays));
  HONE_ASSIGN_OR_RETURN(
      const Identity server,
      MakeIdentity(authority, names, CertificateUse::kServer, now_s, kServerDays));
  HONE_RETURN_IF_ERROR(WriteOwnFile(PathOf(kAuthorityKey), authority.key));
  HONE_RETURN_IF_ERROR(WriteOwnFile(PathOf(kAuthorityCertificate), authority.certificate));
  HONE_RETURN_IF_ERROR(WriteOwnFile(PathOf(kServerKey), server.key));
  return WriteOwnFile(PathOf(kServerCertificate), server.certificate + authority.certificate);
}

absl::Status ServerIdentity::Renew(const std::vector<std::string>& names, int64_t now_s) const {
  Identity authority;
  HONE_ASSIGN_OR_RETURN(authority.key, ReadFile(PathOf(kAuthorityKey)));
  HONE_ASSIGN_OR_RETURN(authority.certificate, ReadFile(PathOf(kAuthorityCertificate)));
  HONE_ASSIGN_OR_RETURN(const std::string key, ReadFile(PathOf(kServerKey)));
  HONE_ASSIGN_OR_RETURN(
      const Identity server,
      MakeIdentity(authority, names, CertificateUse::kServer, now_s, kServerDays, key));
  return WriteOwnFile(PathOf(kServerCertificate), server.certificate + authority.certificate);
}

absl::StatusOr<std::string> ServerIdentity::Fingerprint() const {
  HONE_ASSIGN_OR_RETURN(const std::string chain, ReadFile(PathOf(kServerCertificate)));
  return LastFingerprintOf(chain);
}

absl::StatusOr<int64_t> ServerIdentity::End() const {
  HONE_ASSIGN_OR_RETURN(const std::string chain, ReadFile(PathOf(kServerCertificate)));
  return EndOf(chain);
}

TlsOptions ServerIdentity::OptionsFor(const std::string& listen) const {
  return {.listen = listen,
          .key_file = PathOf(kServerKey),
          .certificate_file = PathOf(kServerCertificate),
          .client_authority_file = ""};
}

std::string DefaultIdentityFolder() {
  return (std::filesystem::path(tuning_db::DefaultPath()).parent_path() / "tls").string();
}

}  // namespace hone::tuner
