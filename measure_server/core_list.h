// Lists of processor cores, as the system and its users write them: "0-3,6".
#ifndef HONE_MEASURE_SERVER_CORE_LIST_H_
#define HONE_MEASURE_SERVER_CORE_LIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::measure {

// Each core once, in ascending order. kInvalidArgument for what is no list, or has numbers that no
// core has.
absl::StatusOr<std::vector<int>> ParseCores(std::string_view text);
// "0-3,6"; of cores in ascending order.
std::string CoresText(const std::vector<int>& cores);

// How many cores of this machine are online, whatever this process may use of them; 0 where the
// system does not say.
int OnlineCoreCount();

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CORE_LIST_H_
