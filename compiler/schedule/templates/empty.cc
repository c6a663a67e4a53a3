// Kernels with a tensor of no elements: nothing worth a choice is computed, and the bounds that
// other templates reason with are empty. The naive nest is the schedule.
#include <algorithm>

#include "compiler/schedule/templates/templates.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

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
                                              const CpuTarget&) const override {
    return {RowMajorSignature(def)};
  }

  Space MakeSpace(const Task&) const override {
    return Space([](const Config&) -> std::optional<Knob> { return std::nullopt; });
  }

  Config Default(const Task&) const override { return {}; }

  absl::StatusOr<loop::Nest> Schedule(const Task& task, const Config& config) const override {
    if (config == Config()) return task.def->naive;
    return absl::InvalidArgumentError(
        fmt::format("a config without knobs was expected, found {}", config.ToText()));
  }
};

}  // namespace

const Template& EmptyTemplate() {
  static const Empty empty;
  return empty;
}

}  // namespace hone::schedule
