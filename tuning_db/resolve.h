// Finds the config that the database has for a kernel.
#ifndef HONE_TUNING_DB_RESOLVE_H_
#define HONE_TUNING_DB_RESOLVE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

// The tiers that the database can give. kNone leaves the kernel to the cost model and the default.
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
  double default_ns = 0;  // 0: the default was not measured beside it
  double ratio = 1;       // default / best, above 1 is faster; from a final, of paired rounds
  std::string target;     // of the task that it comes from; another one if kCompatible
};

// A final's winner is `tuned` if the task had at least this many distinct trials, or its whole
// space if that is smaller, or if its search ended early because more trials promised too little
// (decision 0016).
inline constexpr int64_t kTrialsOfTuned = 64;

// Whether the winner of a final is `tuned`.
bool IsTuned(const Final& final);
bool IsTuned(const FinalFigures& final);

// Whether configs of the other target may be used on the asked one: same vector width, registers
// and threads.
using IsCompatible = std::function<bool(const std::string& other_target)>;

// One answer for each key, in order:
//   tuned       the winner of the newest final, if IsTuned
//   tuning      otherwise that winner, if there is a final; without a final, the config with the
//               least RankedNs (the median over its records), among the records with the regime,
//               device and toolchain of the newest success
//   compatible  otherwise the best among the workload's tasks on targets that `is_compatible`
//               accepts (null: none): tuned before tuning, then the greatest ratio
absl::StatusOr<std::vector<Best>> Resolve(Store& store, const std::string& target,
                                          const std::vector<ResolveKey>& keys,
                                          const IsCompatible& is_compatible = nullptr);

// The best config of one task and signature; kNone if no measurement succeeded.
absl::StatusOr<Best> BestOf(Store& store, const Task& task, const std::string& signature);

// What a config costs on one toolchain by its calibration, from the records with the regime and
// device of the toolchain's newest success. `cost` is the median ratio of the config's times to the
// anchor's times beside them, times the anchor's least time; if no record has an anchor, it is the
// config's median time. It is 0 if the config was settled but has no such record.
struct ConfigCost {
  std::string config;
  double cost = 0;        // in nanoseconds
  std::string toolchain;  // that built it; empty: it was not built
};
// The costs of all configs of a task and signature that were calibrated: the toolchain that
// measured last is last, and those of one toolchain are sorted by their text. Empty if there are
// none.
absl::StatusOr<std::vector<ConfigCost>> CalibrationOf(Store& store,
                                                      const std::string& workload_digest,
                                                      const std::string& signature,
                                                      const std::string& target);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_RESOLVE_H_
