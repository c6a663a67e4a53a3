#include "measure_server/core_list.h"

#include <fmt/format.h>
#include <sched.h>

#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace hone::measure {
namespace {

bool ParseCore(absl::string_view text, int* core) {
  return absl::SimpleAtoi(text, core) && *core >= 0 && *core < CPU_SETSIZE;
}

}  // namespace

absl::StatusOr<std::vector<int>> ParseCores(std::string_view text) {
  std::set<int> cores;
  const absl::string_view whole(text.data(), text.size());
  for (const absl::string_view part : absl::StrSplit(whole, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    int first = 0;
    int last = 0;
    const bool is_range = part.find('-') != absl::string_view::npos;
    if (!ParseCore(ends.first, &first) || !ParseCore(is_range ? ends.second : ends.first, &last) ||
        last < first) {
      return absl::InvalidArgumentError(
          fmt::format("expected cores such as 0-3 or 0,2,4-7, found '{}'", std::string(text)));
    }
    for (int core = first; core <= last; ++core) cores.insert(core);
  }
  return std::vector<int>(cores.begin(), cores.end());
}

std::string CoresText(const std::vector<int>& cores) {
  std::string text;
  for (size_t begin = 0; begin < cores.size();) {
    size_t end = begin + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    text += text.empty() ? "" : ",";
    text += end - begin == 1 ? fmt::format("{}", cores[begin])
                             : fmt::format("{}-{}", cores[begin], cores[end - 1]);
    begin = end;
  }
  return text;
}

int OnlineCoreCount() {
  std::ifstream file("/sys/devices/system/cpu/online");
  std::string line;
  std::getline(file, line);
  const absl::StatusOr<std::vector<int>> cores = ParseCores(line);
  return cores.ok() ? static_cast<int>(cores->size()) : 0;
}

}  // namespace hone::measure
