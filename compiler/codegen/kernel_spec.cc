#include "compiler/codegen/kernel_spec.h"

#include <utility>

#include "compiler/ops/subnormals.h"

namespace hone::codegen {

KernelSpec KernelSpecOf(const ops::KernelDefinition& def, const schedule::Config& config,
                        schedule::LoweredConfig lowered) {
  KernelSpec spec;
  spec.name = lowered.nest.name;
  spec.workload = def.workload.text;
  spec.workload_digest = def.workload.digest;
  spec.config = config.ToText();
  spec.flops = def.flops;
  spec.error_bound = lowered.error_bound;
  spec.spreads_rounding = lowered.spreads_rounding;
  spec.flush_subnormals = ops::FlushesSubnormals(def);
  spec.nest = std::move(lowered.nest);
  if (config.Has("pipeline")) spec.pipeline = config.String("pipeline");
  return spec;
}

}  // namespace hone::codegen
