// The final of a model: what was faster where it stands (docs/decisions/0015).
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
  int64_t calls = 0;             // in a run
  std::string winner;            // config of the kernel's own final, which was judged
  std::string kept;              // config: the winner, or the untuned module's
  std::string kept_nest_digest;  // it applies iff it lowers to this nest today
  double default_ns = 0;         // these two: of all its calls in a run, medians; 0: not timed,
  double winner_ns = 0;          // since the winner is the untuned module's config
  PairedRatio ratio;             // of these
};

struct ModelFinal {
  int64_t id = 0;
  std::string skeleton;  // digest
  std::string target;
  std::string model;  // name, for people
  std::vector<std::string>
      signatures;  // kept, of each kernel call in execution order before copies
  std::vector<ModelFinalKernel> kernels;
  // Digest of all that was compared: while it is the same, nothing is to be timed again.
  std::string compared;
  int64_t rounds = 0;
  double default_ns = 0;  // of a run of the untuned module; 0: not timed, since it is what is kept
  double tuned_ns = 0;    // of what was kept
  PairedRatio ratio;      // of these
  int64_t wall_time_ns = 0;  // since the epoch, for display
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_MODEL_FINAL_H_
