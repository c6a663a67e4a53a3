// Conformance cases in ONNX's own form: a folder with model.onnx and test_data_set_0.
#ifndef HONE_TESTS_COMPILER_FRONTEND_NODE_CASE_H_
#define HONE_TESTS_COMPILER_FRONTEND_NODE_CASE_H_

#include <set>
#include <string>
#include <vector>

namespace hone::frontend {

enum class CaseOutcome { kRight, kRefused, kWrong };

struct NodeCase {
  std::string folder;
  std::vector<std::string> inputs;  // names, in the order of the files input_<i>.pb
  std::set<std::string> constants;  // inputs that are given to the import
};

// Runs it with the interpreter. `why` says what is wrong, or why the import refuses it.
CaseOutcome RunCase(const NodeCase& c, std::string* why);

}  // namespace hone::frontend

#endif  // HONE_TESTS_COMPILER_FRONTEND_NODE_CASE_H_
