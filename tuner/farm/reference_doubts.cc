#include "tuner/farm/reference_doubts.h"

#include <algorithm>

namespace hone::tuner {

namespace v1 = hone::v1;

bool ReferenceDoubts::IsBelieved(const std::string& workload_digest, const std::string& worker) {
  constexpr size_t kEnough = 3;
  const int64_t now_ns = clock_->NowNs();
  for (auto& [workload, claims] : claims_) {
    std::erase_if(claims, [&](const Claim& claim) { return now_ns - claim.said_ns >= kLongestNs; });
  }
  std::erase_if(claims_, [](const auto& item) { return item.second.empty(); });
  std::vector<Claim>& claims = claims_[workload_digest];
  claims.push_back({worker, now_ns});
  const bool has_second = std::any_of(claims.begin(), claims.end(),
                                      [&](const Claim& claim) { return claim.worker != worker; });
  if (!has_second && claims.size() < kEnough) return false;
  claims_.erase(workload_digest);
  return true;
}

bool ProvesReference(const v1::Assignment& assignment, const v1::MeasureResult& result) {
  if (assignment.reference().artifact_digest().empty()) return false;
  return std::any_of(result.candidates().begin(), result.candidates().end(),
                     [](const auto& candidate) {
                       return candidate.outcome() == v1::MEASURE_OUTCOME_OK ||
                              candidate.outcome() == v1::MEASURE_OUTCOME_WRONG_OUTPUT;
                     });
}

}  // namespace hone::tuner
