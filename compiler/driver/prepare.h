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

// Takes the bytes of one entry of the plan.
using ParameterSink = std::function<absl::Status(uint64_t offset_bytes, std::string_view bytes)>;

// Gives `sink` the entries of `plan` one after another, prepared by the prepare launches of
// `nests`, which are built for the host, whatever the target. The weights of a model are many
// times the rest: what a call prepares is gone before the next is looked at, and a constant of
// `graph` is let go of behind the last entry that is made of it, of whichever specialisation. Ends
// at the first error.
absl::Status PrepareParameters(KernelGraph graph, const std::vector<loop::Nest>& nests,
                               const ParameterPlan& plan, const ParameterSink& sink);

// The launches of one phase, with every buffer of the nest still in its place.
loop::Nest OnlyPhase(const loop::Nest& nest, loop::Phase phase);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_PREPARE_H_
