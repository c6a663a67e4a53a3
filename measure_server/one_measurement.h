// A measurement that no daemon asks for: one assignment, from a file.
#ifndef HONE_MEASURE_SERVER_ONE_MEASUREMENT_H_
#define HONE_MEASURE_SERVER_ONE_MEASUREMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "measure_server/measurer.h"

namespace hone::measure {

// The file holds a hone.v1.OneMeasurement. kNotFound or kInvalidArgument: there is none, or it
// lacks an artifact that the assignment names.
absl::StatusOr<Job> ReadOneMeasurement(const std::string& path);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ONE_MEASUREMENT_H_
