#include "compiler/frontend/name_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>

namespace hone::frontend {

std::string ShortList(const std::vector<std::string>& names, size_t most) {
  const auto end = names.begin() + static_cast<int64_t>(std::min(names.size(), most));
  const std::string list = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() <= most) return list;
  return fmt::format("{} and {} more", list, names.size() - most);
}

std::string ShellWord(const std::string& name) {
  const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<uint8_t>(c)) != 0 ||
           std::string_view("_-.:/@%+").find(c) != std::string_view::npos;
  });
  if (is_plain) return name;
  std::string word = "'";
  for (const char c : name) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace hone::frontend
