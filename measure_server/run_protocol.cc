#include "measure_server/run_protocol.h"

#include <cstdio>

namespace hone::measure {

void SetMessage(RunReport* report, const char* message) {
  std::snprintf(report->message, sizeof(report->message), "%s", message);
}

}  // namespace hone::measure
