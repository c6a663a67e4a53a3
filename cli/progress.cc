#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "fmt/format.h"

namespace hone::cli {
namespace {

constexpr int64_t kTerminalIntervalNs = 100'000'000;
constexpr int64_t kLogIntervalNs = 10'000'000'000;

}  // namespace

Progress::Progress(const Clock& clock, std::string label)
    : clock_(clock),
      start_ns_(clock.NowNs()),
      label_(std::move(label)),
      terminal_(label_.empty() && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Clear(); }

void Progress::Clear() {
  if (width_ > 0) fmt::print(stderr, "\r{:{}}\r", "", width_);
  width_ = 0;
}

void Progress::Update(const std::string& text) {
  const int64_t now_ns = clock_.NowNs();
  const int64_t interval_ns = terminal_ ? kTerminalIntervalNs : kLogIntervalNs;
  if (last_ns_ >= 0 && now_ns - last_ns_ < interval_ns) return;
  last_ns_ = now_ns;
  if (!terminal_) {
    fmt::print(stderr, "{}{}\n", label_, text);
    return;
  }
  fmt::print(stderr, "\r{:<{}}", text, width_);
  std::fflush(stderr);
  width_ = text.size();
}

void Progress::Print(const std::string& line) {
  Clear();
  fmt::print(stderr, "{}{}\n", label_, line);
}

double Progress::ElapsedSeconds() const {
  return static_cast<double>(clock_.NowNs() - start_ns_) * 1e-9;
}

std::string FormatSeconds(double seconds) {
  const auto total = static_cast<int64_t>(seconds + 0.5);
  if (total >= 3600)
    return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string FormatNs(double ns) {
  if (ns <= 0) return "-";
  if (ns < 1e6) return fmt::format("{:.4g} us", ns * 1e-3);
  return fmt::format("{:.4g} ms", ns * 1e-6);
}

}  // namespace hone::cli
