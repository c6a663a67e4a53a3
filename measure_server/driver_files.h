// A folder in which the drivers of candidates may keep files.
#ifndef HONE_MEASURE_SERVER_DRIVER_FILES_H_
#define HONE_MEASURE_SERVER_DRIVER_FILES_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "support/scratch_folder.h"

namespace hone::measure {

// A folder that can be handed to another user. The worker's own scratch folder around it stays the
// worker's: the user can pass through it, but not list it. The folder and its files are removed
// when this object is destroyed. Movable.
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
