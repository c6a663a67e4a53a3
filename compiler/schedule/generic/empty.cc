// Kernels with a tensor of no elements: nothing worth a choice is computed, and the bounds that
// other templates reason with are empty. The naive nest is the schedule.
#include <algorithm>
#include <utility>

#include "compiler/schedule/templates.h"

namespace hone::schedule {
namespace {

class EmptyPlan final : public Plan {
 public:
  explicit EmptyPlan(loop::Nest naive) : naive_(std::move(naive)) {}
  std::optional<Knob> NextKnob(const Config&) const override { return std::nullopt; }
  std::vector<PricedConfig> Ranked() const override { return {{}}; }
  absl::StatusOr<loop::Nest> Schedule(const Config&) const override { return naive_; }

 private:
  const loop::Nest naive_;
};

class Empty : public Template {
 public:
  std::string_view name() const override { return "empty"; }

  bool Matches(const ops::KernelDefinition& def) const override {
    return std::any_of(def.naive.buffers.begin(), def.naive.buffers.end(),
                       [](const loop::Buffer& buffer) {
                         return std::count(buffer->shape.begin(), buffer->shape.end(), 0) != 0;
                       });
  }

  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine&) const override {
    return {RowMajorSignature(def)};
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    return std::make_unique<EmptyPlan>(task.def->naive);
  }
};

}  // namespace

const Template& EmptyTemplate() {
  static const Empty empty;
  return empty;
}

}  // namespace hone::schedule
