#include "compiler/schedule/templates.h"

namespace hone::schedule {

const Template& TemplateFor(const ops::KernelDefinition& def) {
  for (const Template* candidate :
       {&EmptyTemplate(), &ConvTemplate(), &DepthwiseConv2dTemplate(), &DenseTemplate(),
        &AttentionTemplate(), &PoolTemplate(), &ScaledDenseTemplate(), &SparseDenseTemplate(),
        &RecurrentTemplate(), &RowsTemplate(), &GenericTemplate()}) {
    if (candidate->Matches(def)) return *candidate;
  }
  return GenericTemplate();
}

const Template& TemplateFor(const ops::KernelDefinition& def, const machine::Machine& machine) {
  if (!machine.HasGrid()) return TemplateFor(def);
  return EmptyTemplate().Matches(def) ? EmptyTemplate() : GridTemplate();
}

}  // namespace hone::schedule
