#include "transport/server_address.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "support/status.h"

namespace hone {
namespace {

constexpr absl::string_view kScheme = "hone://";
constexpr size_t kDigestDigits = 64;
// Join strings have some two hundred characters.
constexpr int kMostFileBytes = 4096;

absl::Status Malformed(const std::string& what) {
  return absl::InvalidArgumentError(fmt::format(
      "expected a daemon's address, unix:PATH or the join string that `hone auth add` prints "
      "(hone://HOST:PORT?certificate=SHA256&token=TOKEN), found {}",
      what));
}

bool IsDigest(absl::string_view text) {
  return text.size() == kDigestDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

// What a metadata value of gRPC can carry, and no line can be made of.
bool IsToken(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~';
  });
}

bool IsHostCharacter(char c) {
  return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_' || c == ':' || c == '%';
}

// "HOST:PORT" or "[IPv6]:PORT".
absl::Status CheckHostPort(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return Malformed("no port");
  int port = 0;
  if (!absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 1 || port > 65535) {
    return Malformed("a port that is no number of 1 to 65535");
  }
  absl::string_view host = text.substr(0, colon);
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const bool is_host = !host.empty() && std::all_of(host.begin(), host.end(), IsHostCharacter);
  if (!is_host || (!is_bracketed && host.find(':') != absl::string_view::npos)) {
    return Malformed("a host that is neither a name nor an address (IPv6: in brackets)");
  }
  return absl::OkStatus();
}

absl::StatusOr<ServerAddress> ParseJoinString(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text.substr(kScheme.size()), absl::MaxSplits('?', 1));
  ServerAddress address;
  address.host_port = std::string(absl::StripSuffix(parts.first, "/"));
  HONE_RETURN_IF_ERROR(CheckHostPort(address.host_port));
  for (const absl::string_view part : absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (field.first == "certificate" && IsDigest(field.second)) {
      address.certificate = std::string(field.second);
    } else if (field.first == "token" && IsToken(field.second)) {
      address.token = std::string(field.second);
    } else {
      return Malformed("a field that is neither certificate=SHA256 nor token=TOKEN");
    }
  }
  if (address.certificate.empty()) return Malformed("no certificate to trust");
  return address;
}

absl::Status CheckPrivate(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0) {
    return absl::NotFoundError(
        fmt::format("cannot read the join string in {}: {}", path, std::strerror(errno)));
  }
  const bool is_own = facts.st_uid == geteuid() || facts.st_uid == 0;
  if (is_own && (facts.st_mode & (S_IRWXG | S_IRWXO)) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(
      fmt::format("expected that nobody else may read the join string in {}; chmod 600 it", path));
}

}  // namespace

std::string ServerAddress::Name() const { return socket.empty() ? host_port : "unix:" + socket; }

absl::StatusOr<ServerAddress> ParseServerAddress(const std::string& text) {
  if (absl::StartsWith(text, kScheme)) return ParseJoinString(text);
  const absl::string_view path = absl::StripPrefix(text, "unix:");
  if (!path.empty() && (path.size() < text.size() || path.front() == '/')) {
    return ServerAddress{
        .socket = std::string(path), .host_port = {}, .certificate = {}, .token = {}};
  }
  if (absl::StrContains(text, ":") && !absl::StrContains(text, "/")) {
    return Malformed("a bare host and port, over which nothing would be secret");
  }
  return Malformed(text.empty() ? "nothing" : "something else");
}

absl::StatusOr<ServerAddress> ReadServerAddress(const std::string& text) {
  if (text.empty() || text.front() != '@') return ParseServerAddress(text);
  const std::string path = text.substr(1);
  HONE_RETURN_IF_ERROR(CheckPrivate(path));
  std::ifstream file(path, std::ios::binary);
  std::string held(kMostFileBytes, '\0');
  file.read(held.data(), kMostFileBytes);
  held.resize(static_cast<size_t>(file.gcount()));
  return ParseServerAddress(std::string(absl::StripAsciiWhitespace(held)));
}

std::string JoinString(const ServerAddress& address) {
  std::string text =
      fmt::format("hone://{}?certificate={}", address.host_port, address.certificate);
  if (!address.token.empty()) text += "&token=" + address.token;
  return text;
}

}  // namespace hone
