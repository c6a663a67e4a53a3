// Reads the measured micro-kernels of a target from the tuning database.
#ifndef HONE_TUNER_CALIBRATION_MICRO_KERNELS_IN_H_
#define HONE_TUNER_CALIBRATION_MICRO_KERNELS_IN_H_

#include <memory>

#include "absl/status/statusor.h"
#include "compiler/schedule/micro_kernels.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// nullptr if they are not measured.
absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernelsIn(
    tuning_db::Store& store, const CpuTarget& target);

}  // namespace hone::tuner

#endif  // HONE_TUNER_CALIBRATION_MICRO_KERNELS_IN_H_
