// Where candidates run, and within which bounds.
#ifndef HONE_MEASURE_SERVER_RUN_PLACE_H_
#define HONE_MEASURE_SERVER_RUN_PLACE_H_

#include <string>

#include "measure_server/candidate_process.h"
#include "measure_server/isolation.h"
#include "measure_server/run_protocol.h"
#include "measure_server/sandbox.h"

namespace hone::measure {

struct RunPlace {
  std::string device =
      kHostDevice;  // as hone::FindDevice takes it; kHostDevice: the process runs the code
  const Sandbox* sandbox = nullptr;
  const Isolation* isolation = nullptr;

  // Whether candidates may start processes here.
  Descendants descendants() const {
    return sandbox->level() == SandboxLevel::kContained ? Descendants::kEndWithIt
                                                        : Descendants::kNone;
  }
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_RUN_PLACE_H_
