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

}  // namespace hone::schedule
