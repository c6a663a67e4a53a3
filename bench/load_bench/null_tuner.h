// Parts of a tuner that neither lower nor build anything, so that only the daemon's own work is
// left.
#ifndef HONE_BENCH_LOAD_BENCH_NULL_TUNER_H_
#define HONE_BENCH_LOAD_BENCH_NULL_TUNER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tuner/builder.h"
#include "tuner/executor.h"
#include "tuner/lowerer.h"
#include "tuner/search.h"

namespace hone::bench {

// The name under which the daemon knows NullSearch.
inline constexpr char kNullSearch[] = "null";

// Every workload has a space of 65,536 configs, each with a nest of its own.
class NullLowerer final : public tuner::Lowerer {
 public:
  absl::StatusOr<std::shared_ptr<const tuner::TaskContext>> Open(
      const std::string& workload, const std::string& signature,
      const std::string& target) override;
};

// Proposes the next configs of the space, in its order.
class NullSearch final : public tuner::Search {
 public:
  std::vector<schedule::Config> NextBatch(const tuner::SearchState& state, int count) override;
};

// Answers at once. All artifacts have `artifact_bytes` bytes, and those of different candidates
// differ.
class NullBuilder final : public tuner::Builder {
 public:
  explicit NullBuilder(size_t artifact_bytes) : artifact_bytes_(artifact_bytes) {}
  void Build(const hone::v1::BuildBatch& batch, tuner::BuildCallback done) override;

 private:
  const size_t artifact_bytes_;
  tuner::ThreadExecutor thread_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_LOAD_BENCH_NULL_TUNER_H_
