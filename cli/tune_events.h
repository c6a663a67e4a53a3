// What `hone tune --events` prints for the program that started it: one JSON object a line on
// stdout, as docs/cli.md has them.
#ifndef HONE_CLI_TUNE_EVENTS_H_
#define HONE_CLI_TUNE_EVENTS_H_

#include <cstdint>
#include <set>
#include <string>

#include "hone/v1/tuning.pb.h"
#include "nlohmann/json_fwd.hpp"
#include "support/clock.h"

namespace hone::cli {

// Not thread-safe.
class TuneEvents {
 public:
  explicit TuneEvents(const Clock& clock) : clock_(clock) {}

  // Prints how a job stands in a phase ("micro-kernels", "search", "final"): the first time in each
  // phase, and then at most ten times a second.
  void Progress(const std::string& phase, const v1::JobInfo& job);
  // Prints that a phase without trials begins ("model").
  void Phase(const std::string& phase);
  // Prints the last event: the document of --json, on one line.
  void Result(nlohmann::json document);

 private:
  const Clock& clock_;
  std::set<std::string> seen_;  // phases
  int64_t last_ns_ = 0;
};

}  // namespace hone::cli

#endif  // HONE_CLI_TUNE_EVENTS_H_
