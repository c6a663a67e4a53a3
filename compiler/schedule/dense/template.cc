// Matrix products. Of 8-bit integers and bfloat16, a step of the sum is a dot product of four or
// two. The right operand of a batched product is packed where it is transposed, and read where it
// lies where its rows lie along the output's; moves of either operand's elements (slices, reshapes,
// transposes) are part of the reading.
#include "compiler/schedule/dense/direct.h"
#include "compiler/schedule/dense/dots.h"
#include "compiler/schedule/dense/tiles.h"
#include "compiler/schedule/product/view.h"
#include "compiler/schedule/templates.h"

namespace hone::schedule {
namespace {

class DenseTemplateImpl : public Template {
 public:
  std::string_view name() const override { return "dense"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewDense(def).has_value();
  }
  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& /*machine*/) const override {
    return {RowMajorSignature(def)};
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    const auto problem =
        std::make_shared<const Problem<Dense>>(Problem<Dense>{task, DenseOf(task)});
    auto plan = std::make_unique<StrategiesPlan>("direct");
    plan->AddAll<Dense>(
        {{"direct", OpenDenseDirect}, {"tiles", OpenDenseTiles}, {"dots", OpenDenseDots}}, problem);
    return plan;
  }
};

}  // namespace

const Template& DenseTemplate() {
  static const DenseTemplateImpl instance;
  return instance;
}

}  // namespace hone::schedule
