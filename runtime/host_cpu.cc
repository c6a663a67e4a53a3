#include "runtime/host_cpu.h"

#include <algorithm>
#include <sstream>

namespace hone {

bool HasAll(const std::vector<std::string>& features, std::string_view words) {
  std::istringstream stream{std::string(words)};
  for (std::string word; stream >> word;) {
    if (!std::binary_search(features.begin(), features.end(), word)) return false;
  }
  return true;
}

}  // namespace hone
