// The flags that select a part of the log, the same for every verb of `hone log`.
#ifndef HONE_CLI_LOG_FILTER_H_
#define HONE_CLI_LOG_FILTER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "hone/v1/log.pb.h"

namespace CLI {
class App;
}

namespace hone::cli {

class LogFilterFlags {
 public:
  // With `has_outcomes`, adds --purpose and --outcome, too.
  void AddTo(CLI::App& verb, bool has_outcomes);
  // kInvalidArgument with exit code 2 for a value that makes no sense.
  absl::StatusOr<v1::LogFilter> Resolve() const;

 private:
  std::string op_;
  std::string shape_;
  std::string workload_;
  std::string target_;
  std::string device_;
  int64_t job_ = 0;
  std::string purpose_;
  std::string outcome_;
  std::string since_;
  std::string before_;
  bool with_retracted_ = false;
};

}  // namespace hone::cli

#endif  // HONE_CLI_LOG_FILTER_H_
