// Convolutions of one to three spatial axes, 1x1 included, with groups or without, and transposed
// ones; those of a channel each are the depthwise template's. Of 8-bit integers and of bfloat16, a
// step of the sum is a dot product of four or two neighbouring input channels.
#include "compiler/schedule/conv/direct.h"
#include "compiler/schedule/conv/pixels.h"
#include "compiler/schedule/conv/rows.h"
#include "compiler/schedule/conv/tiles.h"
#include "compiler/schedule/conv/view.h"
#include "compiler/schedule/conv/winograd.h"
#include "compiler/schedule/generic/stages.h"
#include "compiler/schedule/templates.h"

namespace hone::schedule {
namespace {

std::unique_ptr<const Plan> OpenConvStages(const std::shared_ptr<const Problem<Conv>>& problem) {
  return problem->kernel.has_stages ? OpenStages(problem->task) : nullptr;
}

class ConvPlan final : public StrategiesPlan {
 public:
  explicit ConvPlan(const std::shared_ptr<const Problem<Conv>>& problem)
      : StrategiesPlan(problem->kernel.has_stages ? "stages" : "direct") {
    AddAll<Conv>({{"direct", OpenConvDirect},
                  {"winograd2", OpenWinograd<2>},
                  {"winograd3", OpenWinograd<3>},
                  {"winograd4", OpenWinograd<4>},
                  {"winograd5", OpenWinograd<5>},
                  {"winograd6", OpenWinograd<6>},
                  {"stages", OpenConvStages},
                  {"tiles", OpenConvTiles},
                  {"pixels", OpenConvPixels},
                  {"rows", OpenConvRows}},
                 problem);
  }

  // Between tensors that "pixels" can read and write where they lie it is faster than all others,
  // and nothing but "direct" is worth a trial beside it.
  std::vector<PricedConfig> Ranked() const override {
    if (!Has("pixels")) return StrategiesPlan::Ranked();
    std::vector<PricedConfig> ranked = RankedOf("pixels");
    ranked.push_back(RankedOf("direct")[0]);
    return ranked;
  }
};

class ConvTemplateOf : public Template {
 public:
  std::string_view name() const override { return "conv"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewConv(def).has_value();
  }

  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const machine::Machine& machine) const override {
    const Conv conv = *ViewConv(def);
    // Blocks hold parts of groups, which only the generic template could read, lane by lane.
    if (!SomeVectorsFitGroups(conv, machine)) return {RowMajorSignature(def)};
    return BlockedSignatures(def, conv.view, machine.vector.FloatLanes(), WideBlock(conv, machine));
  }

  std::unique_ptr<const Plan> Open(const Task& task) const override {
    return std::make_unique<ConvPlan>(
        std::make_shared<const Problem<Conv>>(Problem<Conv>{task, ConvOf(task)}));
  }
};

}  // namespace

const Template& ConvTemplate() {
  static const ConvTemplateOf instance;
  return instance;
}

}  // namespace hone::schedule
