#include "tuner/service/call_credentials.h"

#include <grpc/grpc_security_constants.h>

#include <string_view>
#include <vector>

namespace hone::tuner {
namespace {

constexpr const char* kField = "authorization";
constexpr std::string_view kScheme = "Bearer ";

}  // namespace

std::string TokenIn(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata) {
  const auto [begin, end] = metadata.equal_range(kField);
  if (begin == end || std::next(begin) != end) return "";
  const std::string_view value(begin->second.data(), begin->second.size());
  return value.starts_with(kScheme) ? std::string(value.substr(kScheme.size())) : "";
}

std::string CertificateNameIn(const grpc::AuthContext& context) {
  const std::vector<grpc::string_ref> names =
      context.FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME);
  return names.size() == 1 ? std::string(names[0].data(), names[0].size()) : "";
}

}  // namespace hone::tuner
