// Makes a measurement of the log again on this machine.
#ifndef HONE_CLI_RERUN_H_
#define HONE_CLI_RERUN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "hone/v1/log.pb.h"

namespace hone::cli {

struct Rerun {
  std::string outcome;  // as a record has it
  std::string message;
  double median_ns = 0;
  double calibrator_ns = 0;  // the median of the worker's fixed loop, interleaved
  double error_ratio = 0;
  std::string regime;
  std::string device;     // the fingerprint of this machine
  std::string toolchain;  // that built it
};

// Builds the record's config and a reference here, and has hone-measure run it once in the way
// trials of searches are run: in its sandbox, checked, on the same inputs and in the same regime.
// Nothing is stored. kFailedPrecondition if this machine does not run code for the record's target.
absl::StatusOr<Rerun> MeasureAgain(const v1::GetRecordResponse& record);

}  // namespace hone::cli

#endif  // HONE_CLI_RERUN_H_
