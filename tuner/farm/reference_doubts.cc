#include "tuner/farm/reference_doubts.h"

namespace hone::tuner {

bool ReferenceDoubts::IsBelieved(const std::string& workload_digest, const std::string& worker) {
  constexpr int kEnough = 3;
  Claims& claims = claims_[workload_digest];
  claims.workers.insert(worker);
  claims.count += 1;
  if (claims.workers.size() < 2 && claims.count < kEnough) return false;
  claims_.erase(workload_digest);
  return true;
}

}  // namespace hone::tuner
