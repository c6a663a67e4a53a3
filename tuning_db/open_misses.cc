#include "tuning_db/open_misses.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "support/status.h"
#include "tuning_db/resolve.h"

namespace hone::tuning_db {

absl::StatusOr<std::vector<Miss>> StillMissed(Store& store, const std::vector<Miss>& misses) {
  std::map<std::string, std::vector<ResolveKey>> keys;  // by target
  for (const Miss& miss : misses) {
    keys[miss.target].push_back(
        {.workload_digest = miss.workload_digest, .signature = miss.signature});
  }
  std::map<std::string, std::set<std::pair<std::string, std::string>>> tuned;
  for (const auto& [target, of_target] : keys) {
    HONE_ASSIGN_OR_RETURN(const std::vector<Best> best, Resolve(store, target, of_target));
    for (size_t i = 0; i < best.size(); ++i) {
      if (best[i].tier != Tier::kTuned) continue;
      tuned[target].insert({of_target[i].workload_digest, of_target[i].signature});
    }
  }
  std::vector<Miss> still;
  for (const Miss& miss : misses) {
    if (!tuned[miss.target].contains({miss.workload_digest, miss.signature})) still.push_back(miss);
  }
  return still;
}

}  // namespace hone::tuning_db
