#include "bench/load_bench/null_tuner.h"

#include <optional>
#include <utility>

#include "support/digest.h"

namespace hone::bench {

namespace v1 = hone::v1;
using schedule::Config;
using schedule::Knob;
using schedule::Space;

namespace {

constexpr const char* kKnobs[] = {"tile_h", "tile_v", "tile_w", "unroll"};
constexpr int64_t kOptions = 16;

// Its digits in base 16 are its knobs.
Config NthConfig(int64_t n) {
  Config config;
  for (const char* const knob : kKnobs) {
    config.Set(knob, n % kOptions);
    n /= kOptions;
  }
  return config;
}

Space NullSpace() {
  return Space([](const Config& prefix) -> std::optional<Knob> {
    const size_t next = prefix.entries().size();
    if (next == std::size(kKnobs)) return std::nullopt;
    Knob knob{kKnobs[next], {}, std::nullopt};
    for (int64_t option = 0; option < kOptions; ++option) knob.options.push_back(option);
    return knob;
  });
}

class NullTask final : public tuner::TaskContext {
 public:
  explicit NullTask(std::string workload)
      : workload_(std::move(workload)), space_(NullSpace()), default_(NthConfig(0)) {}
  const Space& space() const override { return space_; }
  const Config& default_config() const override { return default_; }
  int threads() const override { return 1; }
  absl::StatusOr<tuner::LoweredCandidate> Lower(const Config& config) const override {
    tuner::LoweredCandidate lowered;
    lowered.nest_digest = Sha256Hex(workload_ + config.ToText());
    return lowered;
  }

 private:
  const std::string workload_;
  const Space space_;
  const Config default_;
};

v1::BuildReply BuildNothing(const v1::BuildRequest& request, size_t bytes) {
  std::string artifact = request.has_candidate()
                             ? request.candidate().workload() + request.candidate().config()
                             : "reference of " + request.reference().workload();
  artifact.resize(bytes);
  v1::BuildReply reply;
  reply.set_id(request.id());
  reply.set_outcome(v1::BUILD_OUTCOME_OK);
  reply.set_toolchain("null 1");
  reply.set_artifact_digest(Sha256Hex(artifact));
  reply.set_artifact(std::move(artifact));
  return reply;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const tuner::TaskContext>> NullLowerer::Open(
    const std::string& workload, const std::string&, const std::string&) {
  return std::make_shared<NullTask>(workload);
}

std::vector<Config> NullSearch::NextBatch(const tuner::SearchState& state, int count) {
  // Every config that was proposed before is in the state.
  const auto begin = static_cast<int64_t>(state.settled.size() + state.open.size());
  std::vector<Config> batch;
  for (int64_t n = begin; n < begin + count; ++n) batch.push_back(NthConfig(n));
  return batch;
}

void NullBuilder::Build(const v1::BuildBatch& batch, tuner::BuildCallback done) {
  thread_.Post([this, batch, done = std::move(done)] {
    for (const v1::BuildRequest& request : batch.requests()) {
      done(request.id(), BuildNothing(request, artifact_bytes_));
    }
  });
}

}  // namespace hone::bench
