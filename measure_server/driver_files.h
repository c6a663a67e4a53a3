// Where the drivers of candidates may keep files.
#ifndef HONE_MEASURE_SERVER_DRIVER_FILES_H_
#define HONE_MEASURE_SERVER_DRIVER_FILES_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "support/scratch_folder.h"

namespace hone::measure {

// A folder that another user can be given, though the worker's own scratch folder around it is not
// his: he gets in and lists nothing. It goes with its files when the object goes. Movable.
class DriverFiles {
 public:
  static absl::StatusOr<DriverFiles> Make();
  std::string path() const { return around_.path() + "/files"; }

 private:
  explicit DriverFiles(ScratchFolder around) : around_(std::move(around)) {}

  ScratchFolder around_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DRIVER_FILES_H_
