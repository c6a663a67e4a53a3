#include "tuner/compiler_lowerer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/compatible_targets.h"
#include "compiler/ir/target.h"
#include "compiler/loop/features.h"
#include "compiler/ops/lower.h"
#include "compiler/schedule/open_task.h"
#include "support/status.h"

namespace hone::tuner {
namespace {

class CompilerTask final : public TaskContext {
 public:
  // `open` is a task of `def`.
  CompilerTask(std::unique_ptr<const ops::KernelDefinition> def, schedule::OpenTask open)
      : def_(std::move(def)),
        open_(std::move(open)),
        space_(open_.space()),
        ranked_(open_.Ranked()) {}
  CompilerTask(const CompilerTask&) = delete;
  CompilerTask& operator=(const CompilerTask&) = delete;

  const schedule::Space& space() const override { return space_; }
  const schedule::Config& default_config() const override { return ranked_[0]; }
  std::vector<schedule::Config> alternatives() const override {
    return {ranked_.begin() + 1, ranked_.end()};
  }
  std::string anchor_digest() const override { return def_->workload.anchor_digest; }
  int threads() const override { return cpu() == nullptr ? 1 : cpu()->threads; }
  Caches caches() const override {
    if (cpu() == nullptr) return {};
    const CpuFacts& facts = cpu()->facts;
    return {facts.l2_bytes, std::max(facts.l2_bytes, facts.l3_bytes)};
  }
  int64_t constant_bytes() const override {
    int64_t bytes = 0;
    for (const loop::Buffer& buffer : def_->naive.buffers) {
      if (buffer->role == loop::Role::kConstant) bytes += buffer->SizeBytes();
    }
    return bytes;
  }

  absl::StatusOr<LoweredCandidate> Lower(const schedule::Config& config) const override {
    HONE_ASSIGN_OR_RETURN(const schedule::LoweredConfig kernel, open_.Lower(config));
    LoweredCandidate lowered;
    lowered.nest_digest = schedule::NestDigest(kernel.nest);
    lowered.error_bound = kernel.error_bound;
    if (cpu() == nullptr) return lowered;  // features are of nests on CPUs
    loop::NestFeatures features = loop::ExtractFeatures(kernel.nest, *cpu());
    lowered.features = std::move(features.values);
    lowered.estimate_ns = features.analytic_seconds * 1e9;
    return lowered;
  }

 private:
  // Null for a device of another kind.
  const CpuTarget* cpu() const { return open_.task().target.AsCpu(); }

  const std::unique_ptr<const ops::KernelDefinition> def_;
  const schedule::OpenTask open_;
  const schedule::Space space_;
  const std::vector<schedule::Config> ranked_;  // the default first
};

bool AreEqual(const schedule::MicroKernelTimes* one, const schedule::MicroKernelTimes* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return *one == *other;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TaskContext>> CompilerLowerer::Open(
    const std::string& workload, const std::string& signature, const std::string& target) {
  HONE_ASSIGN_OR_RETURN(Target parsed, Target::Parse(target));
  const CpuTarget* const cpu = parsed.AsCpu();
  auto micro_kernels = micro_kernels_ && cpu != nullptr ? micro_kernels_(*cpu) : nullptr;
  const std::string key = fmt::format("{}\n{}\n{}", workload, signature, target);
  {
    const std::lock_guard lock(mutex_);
    const auto it = open_.find(key);
    if (it != open_.end() && AreEqual(it->second.micro_kernels.get(), micro_kernels.get())) {
      if (auto context = it->second.context.lock()) return context;
    }
  }
  if (parsed.ToString() != target) {
    return absl::InvalidArgumentError(fmt::format(
        "expected a target in canonical form, \"{}\", found \"{}\"", parsed.ToString(), target));
  }
  HONE_ASSIGN_OR_RETURN(ops::KernelDefinition lowered, ops::LowerWorkload(workload));
  auto def = std::make_unique<const ops::KernelDefinition>(std::move(lowered));
  if (def->workload.text != workload) {
    return absl::InvalidArgumentError(
        fmt::format("expected a workload in canonical form, \"{}\", found \"{}\"",
                    def->workload.text, workload));
  }
  HONE_ASSIGN_OR_RETURN(ir::LayoutSignature parsed_signature, ops::ParseSignature(*def, signature));
  HONE_ASSIGN_OR_RETURN(schedule::OpenTask open,
                        schedule::OpenTask::Open({def.get(), std::move(parsed_signature),
                                                  std::move(parsed), micro_kernels}));
  auto context = std::make_shared<const CompilerTask>(std::move(def), std::move(open));
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [](const auto& item) { return item.second.context.expired(); });
  open_[key] = {context, std::move(micro_kernels)};
  return context;
}

bool CompilerLowerer::IsCompatible(const std::string& target, const std::string& other) const {
  return AreCompatible(target, other);
}

}  // namespace hone::tuner
