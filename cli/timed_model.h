// Times a compiled model.
#ifndef HONE_CLI_TIMED_MODEL_H_
#define HONE_CLI_TIMED_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/compiled_model.h"
#include "runtime/executor.h"

namespace hone::cli {

// Times a model in rounds, on inputs from a fixed seed. Rounds of several models are run in turns.
// A round consists of slices of a millisecond or more, so that what else runs on the machine
// disturbs only some of them: 15, or fewer if those would take more than about a tenth of a second.
// Not thread-safe.
class TimedModel {
 public:
  // Times the model's specialisation with these shapes; the first one if `shapes` is empty. Errors
  // are MakeExecutor's.
  static absl::StatusOr<TimedModel> Of(CompiledModel model, const ShapeBindings& shapes);

  // Fills the inputs, and finds how many runs make a slice and how many slices make a round. To be
  // called first.
  void WarmUp();
  // Times whole runs.
  void Round();
  // Times every call of a kernel in its place in the model.
  void Profile();

  const hone_module& table() const { return model_.module->table(); }
  const hone_function& function() const { return executor_->function(); }
  int threads() const { return executor_->threads(); }
  // Not OK if the model's device has failed; its times are then not valid.
  absl::Status status() const { return DeviceStatus(*executor_); }
  int64_t runs_a_round() const { return runs_ * slices_; }
  // Nanoseconds per run, one figure for each round: the median of its slices, and the least of
  // them, since disturbances only add time (decision 0011).
  const std::vector<double>& round_ns() const { return round_ns_; }
  const std::vector<double>& least_ns() const { return least_ns_; }
  // Nanoseconds of each call, one figure for each profiled round; empty if there was none.
  const std::vector<std::vector<double>>& call_ns() const { return call_ns_; }

 private:
  TimedModel(CompiledModel model, std::unique_ptr<Executor> executor)
      : model_(std::move(model)), executor_(std::move(executor)) {}

  CompiledModel model_;
  std::unique_ptr<Executor> executor_;
  int64_t runs_ = 1;  // of a slice
  int slices_ = 1;    // of a round
  std::vector<double> round_ns_;
  std::vector<double> least_ns_;
  std::vector<std::vector<double>> call_ns_;
};

// Runs `rounds` rounds of each model in turns, in an order that changes from one round to the next.
// Ends early when `stop`, which is called after every round, returns true.
void RunInTurns(const std::vector<TimedModel*>& models, void (TimedModel::*round)(), int rounds,
                const std::function<bool()>& stop = nullptr);

}  // namespace hone::cli

#endif  // HONE_CLI_TIMED_MODEL_H_
