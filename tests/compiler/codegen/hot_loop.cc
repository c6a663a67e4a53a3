#include "tests/compiler/codegen/hot_loop.h"

#include <algorithm>

namespace hone::codegen {

std::vector<std::string> HotLoop(const std::string& assembly, const std::string& fma) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', at), assembly.size());
    lines.push_back(assembly.substr(at, end - at));
    at = end + 1;
  }
  std::vector<std::string> best;
  int most = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].rfind(".LBB", 0) != 0) continue;
    const std::string label = lines[i].substr(0, lines[i].find(':'));
    int count = 0;
    for (size_t j = i + 1; j < lines.size() && lines[j].rfind(".LBB", 0) != 0; ++j) {
      if (lines[j].find(fma) != std::string::npos) ++count;
      const bool back = lines[j].find(label) != std::string::npos;
      if (back && count > most) {
        most = count;
        best.assign(lines.begin() + i, lines.begin() + j + 1);
      }
    }
  }
  return best;
}

int CountLines(const std::vector<std::string>& lines, const std::vector<std::string>& words) {
  return static_cast<int>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return line.find(word) != std::string::npos;
    });
  }));
}

}  // namespace hone::codegen
