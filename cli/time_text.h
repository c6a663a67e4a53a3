// Writes points in time as people say them.
#ifndef HONE_CLI_TIME_TEXT_H_
#define HONE_CLI_TIME_TEXT_H_

#include <cstdint>
#include <string>

namespace hone::cli {

// "in 12 days", "3 h ago", "now": how far `at_ns` is from `now_ns`, rounded to the nearest.
std::string TimeFrom(int64_t at_ns, int64_t now_ns);

}  // namespace hone::cli

#endif  // HONE_CLI_TIME_TEXT_H_
