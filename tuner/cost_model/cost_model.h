// The cost model: predicts from the features of a nest how fast it is, relative to the others of
// its task. Gradient-boosted trees (XGBoost) learn the residual of an analytic estimate.
#ifndef HONE_TUNER_COST_MODEL_COST_MODEL_H_
#define HONE_TUNER_COST_MODEL_COST_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::tuner {

// One row for each measured candidate; all vectors have the same length.
struct TrainingSet {
  std::vector<std::vector<float>> rows;  // features
  // The analytic estimate of log2 throughput, -log2(seconds): the base margin.
  std::vector<float> margins;
  // log2 of the throughput relative to that of the task's best: 0 for the best, negative for the
  // others.
  std::vector<float> targets;
  std::vector<int64_t> groups;  // the task of each row
};

struct CostModelOptions {
  int rounds = 80;
  int depth = 6;
  int max_bin = 64;
  double learning_rate = 0.2;
  uint64_t seed = 0;
};

// Immutable. Prediction is not thread-safe (XGBoost keeps its buffers in the model).
// Single-threaded (nthread 1): training stays off the cores that measure. A process that used it
// must not fork without exec.
class CostModel {
 public:
  // Deterministic. Analytic estimates compare within a task only, so the margins of each group are
  // shifted to the mean of its targets. kInvalidArgument if there are no rows or the lengths
  // differ; kInternal with XGBoost's message if it fails.
  static absl::StatusOr<CostModel> Train(const TrainingSet& data, const CostModelOptions& options);

  CostModel(CostModel&&) noexcept;
  CostModel& operator=(CostModel&&) noexcept;
  ~CostModel();

  // The predicted log2 of the throughput, up to a constant per task; greater is faster.
  absl::StatusOr<std::vector<float>> Predict(const std::vector<std::vector<float>>& rows,
                                             const std::vector<float>& margins) const;

 private:
  struct Booster;
  explicit CostModel(std::unique_ptr<Booster> booster);
  std::unique_ptr<Booster> booster_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_COST_MODEL_COST_MODEL_H_
