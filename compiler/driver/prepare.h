// Runs the prepare launches of a model's kernels on this machine, once, at compile time.
#ifndef HONE_COMPILER_DRIVER_PREPARE_H_
#define HONE_COMPILER_DRIVER_PREPARE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/kernel_graph.h"
#include "compiler/loop/stmt.h"

namespace hone::driver {

// For each specialisation, for each call, for each buffer of its kernel's nest: the bytes of a
// prepared buffer, or of a constant that run launches read; empty for all others. `nests[k]` is the
// scheduled nest of kernel k; it is built for the host, whatever the target. Calls of one kernel
// with the same constants share what was prepared.
using CallConstants = std::vector<ir::ConstantData>;
absl::StatusOr<std::vector<std::vector<CallConstants>>> PrepareConstants(
    const KernelGraph& graph, const std::vector<loop::Nest>& nests);

// The launches of one phase, with every buffer of the nest still in its place.
loop::Nest OnlyPhase(const loop::Nest& nest, loop::Phase phase);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_PREPARE_H_
