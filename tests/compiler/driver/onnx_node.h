// The conformance cases of the shared test data on compiled code.
#ifndef HONE_TESTS_COMPILER_DRIVER_ONNX_NODE_H_
#define HONE_TESTS_COMPILER_DRIVER_ONNX_NODE_H_

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/target.h"
#include "gtest/gtest.h"
#include "tests/compiler/frontend/node_case.h"

namespace hone::driver {

// Cases run in two processes of their own, so that one which crashes costs itself alone.
class OnnxNode : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Prints how many cases are right, refused and wrong.
  void ExpectNoneWrong(const Target& target, int fewest_right);

 private:
  struct Verdict {
    frontend::CaseOutcome outcome = frontend::CaseOutcome::kWrong;
    std::string why = "it crashes";
  };

  std::string ResultFile(size_t process) const;
  // In a child: every second case from `first` on, a line before and after each.
  void RunCases(size_t first);
  pid_t Start(size_t first);
  // `unfinished`: the case that a process began and did not end.
  std::map<size_t, Verdict> ReadResults(size_t process, size_t* unfinished);
  std::map<size_t, Verdict> RunAll();

  Target target_;
  std::string folder_;
  std::string results_;
  std::vector<std::string> names_;
  std::vector<frontend::NodeCase> cases_;
};

}  // namespace hone::driver

#endif  // HONE_TESTS_COMPILER_DRIVER_ONNX_NODE_H_
