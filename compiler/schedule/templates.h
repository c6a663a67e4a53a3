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

// The signatures of a kernel with an anchor, the preferred one first. The first have blocks of
// `lanes` channels: for both the anchor's data and the result, for the result alone, for the data
// alone, and for neither. Then come those where one or both have blocks of `wide` channels, unless
// that is 0. Operands that join the result elementwise have its layout. A tensor stays row-major
// where it has fewer channels than a block, or where its last block would have a whole vector of
// padding.
std::vector<ir::LayoutSignature> BlockedSignatures(const ops::KernelDefinition& def,
                                                   const AnchorView& view, int64_t lanes,
                                                   int64_t wide = 0);
// The signatures of a kernel that can compute in any layouts: all tensors in blocks of `lanes`
// channels, all row-major, and the two that convert from one to the other. Tensors with fewer
// channels, or of other than four or five dimensions, are row-major in all of them; pools and
// elementwise kernels also have blocks in three dimensions, but prefer row-major then.
std::vector<ir::LayoutSignature> ElementwiseSignatures(const ops::KernelDefinition& def,
                                                       int64_t lanes);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_TEMPLATES_H_
