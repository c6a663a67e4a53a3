// The final of a model, which says for each kernel what was faster inside the model
// (docs/decisions/0015).
#ifndef HONE_TUNING_DB_MODEL_FINAL_H_
#define HONE_TUNING_DB_MODEL_FINAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "support/paired_ratio.h"

namespace hone::tuning_db {

// A kernel of the model in the layouts that were kept.
struct ModelFinalKernel {
  std::string name;  // for people
  std::string workload_digest;
  std::string signature;
  int64_t calls = 0;             // in one run of the model
  std::string winner;            // the config that won the kernel's own final and was tried here
  std::string kept;              // a config: the winner, or the untuned module's
  std::string kept_nest_digest;  // `kept` applies iff it lowers to this nest today
  double default_ns = 0;         // these two: the median time of all its calls in a run;
  double winner_ns = 0;          // 0: not timed, as the winner is the untuned module's config
  PairedRatio ratio;             // of these two
};

struct ModelFinal {
  int64_t id = 0;
  std::string skeleton;  // digest
  std::string target;
  std::string model;  // name, for people
  // The layout signatures that were kept, one for each kernel in execution order, without the
  // kernels that copy between layouts.
  std::vector<std::string> signatures;
  std::vector<ModelFinalKernel> kernels;
  // Digest of everything that was compared. As long as it is the same, nothing is timed again.
  std::string compared;
  int64_t rounds = 0;
  double default_ns = 0;     // a run of the untuned module; 0: not timed, as that is what was kept
  double tuned_ns = 0;       // a run of what was kept
  PairedRatio ratio;         // of these two
  int64_t wall_time_ns = 0;  // since 1970, for display
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_MODEL_FINAL_H_
