#include "tests/farm_simulator/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hone::sim {
namespace {

std::string_view Name(What what) {
  constexpr std::array<std::string_view, 23> kNames = {
      "daemon up", "daemon down", "store fault", "lease",   "release",     "settle",
      "job state", "hello",       "device",      "credit",  "window",      "result",
      "running",   "stream end",  "welcome",     "offer",   "acknowledge", "revoke",
      "worker up", "worker down", "run begin",   "run end", "fault",
  };
  return kNames.at(static_cast<size_t>(what));
}

bool IsRelated(const Event& event, const Event& to) {
  if (event.what == What::kDaemonUp || event.what == What::kDaemonDown) return true;
  if (event.what == What::kFault && event.worker.empty()) return false;
  if (event.what == What::kRunning && event.fence != to.fence) return false;
  if (to.job != 0 && event.job == to.job && event.what == What::kJobState) return true;
  if (to.trial != 0 && event.trial == to.trial) return true;
  if (to.fence != 0 && event.fence == to.fence) return true;
  if (to.worker.empty() || event.worker != to.worker) return false;
  // What befalls a whole worker befalls each device of it.
  return event.device.empty() || to.device.empty() || event.device == to.device;
}

}  // namespace

std::string ToText(const Event& event) {
  std::string line =
      fmt::format("{:12.6f} {}", static_cast<double>(event.at_ns) / 1e9, Name(event.what));
  if (event.job != 0) line += fmt::format(" job {}", event.job);
  if (event.trial != 0) line += fmt::format(" trial {}", event.trial);
  if (event.fence != 0) line += fmt::format(" fence {}", event.fence);
  if (event.stream != 0) line += fmt::format(" stream {}", event.stream);
  if (!event.worker.empty()) line += " worker " + event.worker;
  if (!event.device.empty()) line += " device " + event.device;
  if (event.number != 0) line += fmt::format(" number {}", event.number);
  if (!event.fences.empty()) line += fmt::format(" holds {}", fmt::join(event.fences, ","));
  if (!event.text.empty()) line += " (" + event.text + ")";
  return line;
}

std::string Excerpt(const History& history, size_t end, size_t count) {
  std::vector<std::string> lines;
  for (size_t i = std::min(end + 1, history.size()); i > 0 && lines.size() < count; --i) {
    if (i - 1 == end || IsRelated(history[i - 1], history[end])) {
      lines.push_back(ToText(history[i - 1]));
    }
  }
  std::reverse(lines.begin(), lines.end());
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::map<std::string, int> CountFaults(const History& history) {
  std::map<std::string, int> counts;
  for (const Event& event : history) {
    if (event.what == What::kFault) ++counts[event.text];
  }
  return counts;
}

}  // namespace hone::sim
