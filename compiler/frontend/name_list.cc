#include "compiler/frontend/name_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hone::frontend {

std::string ShortList(const std::vector<std::string>& names, size_t most) {
  const auto end = names.begin() + static_cast<int64_t>(std::min(names.size(), most));
  const std::string list = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() <= most) return list;
  return fmt::format("{} and {} more", list, names.size() - most);
}

}  // namespace hone::frontend
