// Kernels in layouts that exchange axes, as kernels of row-major tensors.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_MEMORY_ORDER_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_MEMORY_ORDER_H_

#include <cstddef>

#include "compiler/ir/workload.h"
#include "compiler/loop/stmt.h"
#include "compiler/ops/lower.h"

namespace hone::schedule {

// The number of axes of images: samples, channels, lines, columns.
inline constexpr size_t kImageRank = 4;

// The kernel whose tensors have their axes in the order in which `signature` lays them out, all
// row-major: an input of [n, c, h, w] in NHWC becomes one of [n, h, w, c]. Stages whose buffers are
// reordered go through their axes in that order. If all inputs and outputs of four axes have one
// layout, workspaces of four axes get its order, too; otherwise workspaces stay as they are.
// Strategies then need to know of no layout. No layout of `signature` may have blocks.
ops::KernelDefinition InMemoryOrder(const ops::KernelDefinition& def,
                                    const ir::LayoutSignature& signature);

// `nest`, which a schedule made of InMemoryOrder(def, signature), with the inputs and outputs of
// `def` in the layouts of the signature.
loop::Nest InLogicalOrder(const loop::Nest& nest, const ops::KernelDefinition& def,
                          const ir::LayoutSignature& signature);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_MEMORY_ORDER_H_
