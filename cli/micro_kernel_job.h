// The micro-kernels of a target, as a daemon knows them or measures them.
#ifndef HONE_CLI_MICRO_KERNEL_JOB_H_
#define HONE_CLI_MICRO_KERNEL_JOB_H_

#include <memory>

#include "absl/status/statusor.h"
#include "cli/tuning_client.h"
#include "compiler/schedule/micro_kernels.h"

namespace hone::cli {

// nullptr: not all of them are measured.
absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernelsOf(
    TuningClient& client, const Target& target);

// The job that measures one of its tasks: as many trials as there are tiles.
v1::JobSpec MicroKernelJob(const schedule::MicroKernelTask& task);

}  // namespace hone::cli

#endif  // HONE_CLI_MICRO_KERNEL_JOB_H_
