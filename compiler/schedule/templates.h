// The templates, in the order in which they are asked whether they match.
#ifndef HONE_COMPILER_SCHEDULE_TEMPLATES_H_
#define HONE_COMPILER_SCHEDULE_TEMPLATES_H_

#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

const Template& EmptyTemplate();
const Template& ConvTemplate();
const Template& DepthwiseConv2dTemplate();
const Template& DenseTemplate();
const Template& AttentionTemplate();
const Template& PoolTemplate();
const Template& ScaledDenseTemplate();
const Template& SparseDenseTemplate();
const Template& RecurrentTemplate();
const Template& RowsTemplate();
const Template& GenericTemplate();
// The one for machines that have a grid of threads in place of vectors.
const Template& GridTemplate();

// For kernels of a four-dimensional anchor: everything with enough channels in blocks of `lanes`
// first, then the mixed forms at the borders of a blocked part, row-major; last those with blocks
// of `wide`, where that is not 0.
std::vector<ir::LayoutSignature> BlockedSignatures(const ops::KernelDefinition& def,
                                                   const AnchorView& view, int64_t lanes,
                                                   int64_t wide = 0);
// For kernels that follow the layouts they get: all four-dimensional tensors blocked, all
// row-major, and the two conversions.
std::vector<ir::LayoutSignature> ElementwiseSignatures(const ops::KernelDefinition& def,
                                                       int64_t lanes);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_H_
