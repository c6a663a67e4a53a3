// What the system reports about this process: times, memory, threads and descriptors.
#ifndef HONE_SUPPORT_PROCESS_FIGURES_H_
#define HONE_SUPPORT_PROCESS_FIGURES_H_

#include <string>

namespace hone {

struct ProcessFigures {
  double cpu_seconds = 0;         // of all its threads, in user and in kernel mode
  double start_time_seconds = 0;  // since the Unix epoch
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double threads = 0;
  double open_descriptors = 0;
  double most_descriptors = 0;  // how many may be open
};

// Reads the figures from ROOT/proc. A figure that is not found there is 0. Only tests need a `root`
// that is not empty.
ProcessFigures ReadProcessFigures(const std::string& root = "");

}  // namespace hone

#endif  // HONE_SUPPORT_PROCESS_FIGURES_H_
