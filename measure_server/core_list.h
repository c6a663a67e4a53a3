// Lists of processor cores, as the system and its users write them: "0-3,6".
#ifndef HONE_MEASURE_SERVER_CORE_LIST_H_
#define HONE_MEASURE_SERVER_CORE_LIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::measure {

// The cores in ascending order, each once. kInvalidArgument if the text is not such a list, or has
// numbers that no core can have.
absl::StatusOr<std::vector<int>> ParseCores(std::string_view text);
// The text "0-3,6" for cores in ascending order.
std::string CoresText(const std::vector<int>& cores);

// How many cores of this machine are online, whether or not this process may use them; 0 if the
// system does not say.
int OnlineCoreCount();

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CORE_LIST_H_
