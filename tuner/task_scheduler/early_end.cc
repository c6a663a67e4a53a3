#include "tuner/task_scheduler/early_end.h"

#include <algorithm>
#include <cstddef>

namespace hone::tuner {
namespace {

// A search whose newest trials, so many of them, gained less than this ends whatever its share.
constexpr size_t kPatience = 32;
constexpr double kLeastGainOfPatience = 0.01;
// The least part of the models' time that is worth a batch.
constexpr double kLeastGainOfModels = 0.001;

// The least of the first `count` times; 0: all failed.
double BestOf(const std::vector<double>& times, size_t count) {
  double best = 0;
  for (size_t i = 0; i < std::min(count, times.size()); ++i) {
    if (times[i] > 0 && (best == 0 || times[i] < best)) best = times[i];
  }
  return best;
}

// What the trials after the first `count` took off the best time, as a part of it.
double GainAfter(const std::vector<double>& times, size_t count) {
  const double before = BestOf(times, count);
  const double now = BestOf(times, times.size());
  if (before <= 0) return now > 0 ? 1 : 0;
  return 1 - now / before;
}

}  // namespace

double ExpectedGain(const std::vector<double>& times, int batch) {
  const double tried = static_cast<double>(std::max<size_t>(times.size(), 1));
  // What a batch gains of a task that nothing else is known of.
  const double usual = 0.4 / tried;
  const size_t newest = std::min(times.size(), static_cast<size_t>(batch));
  return std::max(usual, 0.5 * GainAfter(times, times.size() - newest));
}

bool IsWorthMore(const SearchSoFar& search, int batch) {
  const size_t tried = search.times.size();
  if (tried > kPatience && GainAfter(search.times, tried - kPatience) < kLeastGainOfPatience) {
    return false;
  }
  return search.share * ExpectedGain(search.times, batch) >= kLeastGainOfModels;
}

}  // namespace hone::tuner
