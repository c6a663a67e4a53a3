// A compiled model under the clock.
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

// Rounds of about a tenth of a second on inputs from a fixed seed, to be taken in turns with those
// of other models. A round falls into slices of a millisecond or more: what else runs on the
// machine disturbs some of them. Not thread-safe.
class TimedModel {
 public:
  // The specialisation with these shapes; the first for none. Errors are MakeExecutor's.
  static absl::StatusOr<TimedModel> Of(CompiledModel model, const ShapeBindings& shapes);

  // Fills the inputs and finds how many runs fill a slice, and slices a round. To be called first.
  void WarmUp();
  // Times whole runs.
  void Round();
  // Times every call of a kernel where it stands in the model.
  void Profile();

  const hone_module& table() const { return model_.module->table(); }
  const hone_function& function() const { return executor_->function(); }
  int threads() const { return executor_->threads(); }
  // Not OK where its device has failed: times are none then.
  absl::Status status() const { return DeviceStatus(*executor_); }
  int64_t runs_a_round() const { return runs_ * slices_; }
  // Nanoseconds a run, one figure a round: the median of its slices, and the least, for who
  // disturbs only adds (decision 0011).
  const std::vector<double>& round_ns() const { return round_ns_; }
  const std::vector<double>& least_ns() const { return least_ns_; }
  // Nanoseconds of each call, one figure a profiled round; empty without one.
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

// Rounds of each in turns, in an order that changes from one to the next; until `stop`, asked after
// every round, says so.
void RunInTurns(const std::vector<TimedModel*>& models, void (TimedModel::*round)(), int rounds,
                const std::function<bool()>& stop = nullptr);

}  // namespace hone::cli

#endif  // HONE_CLI_TIMED_MODEL_H_
