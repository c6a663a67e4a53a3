// Reads one assignment from a file, for a measurement without a daemon.
#ifndef HONE_MEASURE_SERVER_ONE_MEASUREMENT_H_
#define HONE_MEASURE_SERVER_ONE_MEASUREMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "measure_server/measurer.h"

namespace hone::measure {

// The file holds a hone.v1.OneMeasurement. kNotFound if there is no file; kInvalidArgument if it is
// something else, or lacks an artifact that the assignment names.
absl::StatusOr<Job> ReadOneMeasurement(const std::string& path);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ONE_MEASUREMENT_H_
