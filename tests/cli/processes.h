// Processes that a `hone` under test has started.
#ifndef HONE_TESTS_CLI_PROCESSES_H_
#define HONE_TESTS_CLI_PROCESSES_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace hone::cli {

// The child with this program name; 0: there is none.
pid_t ChildNamed(pid_t parent, const std::string& name);

// The live processes whose command lines hold `text`, this one aside.
std::vector<pid_t> ProcessesNaming(const std::string& text);

}  // namespace hone::cli

#endif  // HONE_TESTS_CLI_PROCESSES_H_
