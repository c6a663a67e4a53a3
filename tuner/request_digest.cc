#include "tuner/request_digest.h"

#include "support/digest.h"

namespace hone::tuner {
namespace {

// A submission and a clone of one client id are two requests, whatever their bytes.
constexpr char kOfSpec[] = "spec\n";
constexpr char kOfClone[] = "clone\n";

}  // namespace

std::string DigestOf(const hone::v1::SubmitJobRequest& request) {
  if (!request.request_digest().empty()) return request.request_digest();
  return Sha256Hex(kOfSpec + request.spec().SerializeAsString());
}

std::string DigestOf(const hone::v1::CloneJobRequest& request) {
  hone::v1::CloneJobRequest asked = request;
  asked.clear_client_id();
  return Sha256Hex(kOfClone + asked.SerializeAsString());
}

}  // namespace hone::tuner
