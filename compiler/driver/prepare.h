// Runs the prepare launches of a model's kernels on this machine, once, at compile time.
#ifndef HONE_COMPILER_DRIVER_PREPARE_H_
#define HONE_COMPILER_DRIVER_PREPARE_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "compiler/driver/kernel_graph.h"
#include "compiler/driver/parameters.h"
#include "compiler/loop/stmt.h"

namespace hone::driver {

// Receives the bytes of one entry of the plan.
using ParameterSink = std::function<absl::Status(uint64_t offset_bytes, std::string_view bytes)>;

// Gives the entries of `plan` to `sink` one after another, prepared by the prepare launches of
// `nests`, which are built for this machine whatever the target. To save memory, what one call
// prepares is freed before the next call, and a constant of `graph` is freed after the last entry
// that is made from it. Stops at the first error.
absl::Status PrepareParameters(KernelGraph graph, const std::vector<loop::Nest>& nests,
                               const ParameterPlan& plan, const ParameterSink& sink);

// The nest with the launches of one phase only. All its buffers stay, with the same indices.
loop::Nest OnlyPhase(const loop::Nest& nest, loop::Phase phase);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_PREPARE_H_
