// What `hone doctor` finds: each finding is printed as a line.
#ifndef HONE_CLI_FINDING_H_
#define HONE_CLI_FINDING_H_

#include <string>
#include <vector>

namespace hone::cli {

enum class Level {
  kOk,
  kWarning,  // it works, but figures may be worse or tuning may take longer
  kProblem,  // something does not work
};

struct Finding {
  std::string check;  // what was looked at: "governor"
  Level level = Level::kOk;
  std::string found;
  std::string advice;  // what to do; empty where it is ok
};
using Findings = std::vector<Finding>;

}  // namespace hone::cli

#endif  // HONE_CLI_FINDING_H_
