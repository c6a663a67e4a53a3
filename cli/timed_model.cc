#include "cli/timed_model.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/data_type.h"
#include "support/median.h"
#include "support/random.h"
#include "support/status.h"

namespace hone::cli {
namespace {

constexpr double kSliceSeconds = 1e-3;
constexpr double kRoundSeconds = 0.1;
constexpr int kMostSlices = 15;      // of a round
constexpr int kMostProfileRuns = 7;  // likewise

// Floats in [-1, 1], other inputs zero: figures must not depend on what happened to be in memory.
void FillInputs(Executor& executor) {
  Random random(1);
  for (uint32_t i = 0; i < executor.function().input_count; ++i) {
    const hone_value& value = executor.function().inputs[i];
    std::vector<float> floats((value.size_bytes + sizeof(float) - 1) / sizeof(float));
    if (static_cast<DataType>(value.dtype) == DataType::kFloat32) {
      for (float& f : floats) f = static_cast<float>(2 * random.Uniform() - 1);
    }
    if (value.size_bytes == 0) continue;
    executor.device().CopyIn(executor.Input(i), floats.data(), value.size_bytes);
  }
}

}  // namespace

absl::StatusOr<TimedModel> TimedModel::Of(CompiledModel model, const ShapeBindings& shapes) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, MakeExecutor(model, shapes));
  return TimedModel(std::move(model), std::move(executor));
}

void TimedModel::WarmUp() {
  FillInputs(*executor_);
  double seconds = executor_->Time(1);
  double spent = seconds;
  double least = seconds;  // of slices of as many runs
  while (status().ok() && (seconds < kSliceSeconds || spent < kRoundSeconds)) {
    if (seconds < kSliceSeconds) {
      runs_ = std::max(runs_ + 1, static_cast<int64_t>(static_cast<double>(runs_) * 1.5));
      least = std::numeric_limits<double>::infinity();
    }
    seconds = executor_->Time(runs_);
    spent += seconds;
    least = std::min(least, seconds);
  }
  // Not of the last one, which something else may have disturbed: a model with fewer slices than
  // the other of a comparison would have less to choose its least or its median from.
  slices_ = std::clamp(static_cast<int>(kRoundSeconds / least), 1, kMostSlices);
}

void TimedModel::Round() {
  std::vector<double> slices_ns;
  for (int slice = 0; slice < slices_; ++slice) {
    slices_ns.push_back(executor_->Time(runs_) * 1e9 / static_cast<double>(runs_));
  }
  least_ns_.push_back(std::ranges::min(slices_ns));
  round_ns_.push_back(Median(std::move(slices_ns)));
}

void TimedModel::Profile() {
  const std::vector<double> medians = executor_->Profile(std::min(slices_, kMostProfileRuns));
  call_ns_.resize(medians.size());
  for (size_t c = 0; c < medians.size(); ++c) call_ns_[c].push_back(medians[c]);
}

void RunInTurns(const std::vector<TimedModel*>& models, void (TimedModel::*round)(), int rounds,
                const std::function<bool()>& stop) {
  for (size_t r = 0; r < static_cast<size_t>(rounds); ++r) {
    for (size_t i = 0; i < models.size(); ++i) (models[(r + i) % models.size()]->*round)();
    if (stop != nullptr && stop()) return;
  }
}

}  // namespace hone::cli
