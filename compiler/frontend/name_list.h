// Writes names in messages: the first few and how many more there are, or quoted for a shell.
#ifndef HONE_COMPILER_FRONTEND_NAME_LIST_H_
#define HONE_COMPILER_FRONTEND_NAME_LIST_H_

#include <string>
#include <vector>

namespace hone::frontend {

// The names with commas between them. If there are more than `most`, only the first `most`, and how
// many more there are: "a, b, c and 12 more".
std::string ShortList(const std::vector<std::string>& names, size_t most = 3);

// The name as one word of a shell command, in quotes if it needs them.
std::string ShellWord(const std::string& name);

}  // namespace hone::frontend

#endif  // HONE_COMPILER_FRONTEND_NAME_LIST_H_
