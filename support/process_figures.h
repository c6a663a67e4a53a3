// What the system counts of this process.
#ifndef HONE_SUPPORT_PROCESS_FIGURES_H_
#define HONE_SUPPORT_PROCESS_FIGURES_H_

#include <string>

namespace hone {

struct ProcessFigures {
  double cpu_seconds = 0;         // of all its threads, in the system's calls too
  double start_time_seconds = 0;  // since 1970
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double threads = 0;
  double open_descriptors = 0;
  double most_descriptors = 0;
};

// As /proc tells; what it does not tell is 0. `root`: before "/proc"; empty: the system's own.
ProcessFigures ReadProcessFigures(const std::string& root = "");

}  // namespace hone

#endif  // HONE_SUPPORT_PROCESS_FIGURES_H_
