// Finds the config that a kernel gets from what the database holds.
#ifndef HONE_TUNING_DB_RESOLVE_H_
#define HONE_TUNING_DB_RESOLVE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

// The tiers that the database can answer; kNone leaves it to the cost model and the default.
enum class Tier { kNone = 0, kCompatible = 1, kTuning = 2, kTuned = 3 };
// "tuned", "tuning", "compatible"; "" for kNone.
std::string_view Name(Tier tier);

struct ResolveKey {
  std::string workload_digest;
  std::string signature;
};

struct Best {
  Tier tier = Tier::kNone;
  std::string config;
  std::string nest_digest;  // the config applies iff it lowers to this nest today
  double best_ns = 0;
  double default_ns = 0;  // 0: not measured beside it
  double ratio = 1;       // default / best, above 1 is faster; of paired rounds where tuned
  std::string target;     // of the task it comes from; not the asked one where kCompatible
};

// As many distinct trials of a task, or its whole space where that is smaller, make its winner
// `tuned`. A search that ended early, since more of them promised too little, does as well.
inline constexpr int64_t kTrialsOfTuned = 64;

// Whether the winner of a final is `tuned`: it came after enough distinct trials, or after as many
// as had something to win (decision 0016).
bool IsTuned(const Final& final);
bool IsTuned(const FinalFigures& final);

// Whether configs of the other target hold on the asked one: same vector width, registers, threads.
using IsCompatible = std::function<bool(const std::string& other_target)>;

// One answer for each key, in order. In each:
//   tuned       the winner of the newest final, if IsTuned
//   tuning      otherwise that winner all the same; without a final the config with the least
//               RankedNs (the median of its records), among the records of the newest success's
//               regime, device and toolchain
//   compatible  otherwise the best of the workload's tasks on targets that `is_compatible` accepts
//               (null: none); tuned before tuning, then the greatest ratio
absl::StatusOr<std::vector<Best>> Resolve(Store& store, const std::string& target,
                                          const std::vector<ResolveKey>& keys,
                                          const IsCompatible& is_compatible = nullptr);

// The best of one task and signature; kNone where nothing is measured.
absl::StatusOr<Best> BestOf(Store& store, const Task& task, const std::string& signature);

// What calibration measured of each config of a task and signature with each toolchain: its ratio
// to the anchor times the least time of the anchor, in nanoseconds, of records that compare; 0
// where there is none but the config was settled. Those of the newest toolchain last, of each by
// text; empty where nothing was measured.
struct ConfigCost {
  std::string config;
  double cost = 0;
  std::string toolchain;  // that built it; empty: it was not built
};
absl::StatusOr<std::vector<ConfigCost>> CalibrationOf(Store& store,
                                                      const std::string& workload_digest,
                                                      const std::string& signature,
                                                      const std::string& target);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_RESOLVE_H_
