// Histograms of how long something took, for the metrics of a service.
#ifndef HONE_SUPPORT_HISTOGRAM_H_
#define HONE_SUPPORT_HISTOGRAM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace hone {

// Thread-safe.
class Histogram {
 public:
  struct Totals {
    std::vector<double> bounds;    // ascending; a value counts for the first that is not below it
    std::vector<uint64_t> counts;  // one for each bound, then one for the values above all bounds
    uint64_t count = 0;
    double sum = 0;
  };

  explicit Histogram(std::vector<double> bounds) {
    totals_.counts.resize(bounds.size() + 1);
    totals_.bounds = std::move(bounds);
  }

  void Add(double value) {
    const std::lock_guard lock(mutex_);
    const auto bound = std::ranges::lower_bound(totals_.bounds, value);
    totals_.counts[static_cast<size_t>(bound - totals_.bounds.begin())] += 1;
    totals_.count += 1;
    totals_.sum += value;
  }

  Totals Read() const {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

 private:
  mutable std::mutex mutex_;
  Totals totals_;
};

// Bounds in seconds: ShortTimes for what is answered at once, LongTimes for what may take up to an
// hour.
inline std::vector<double> ShortTimes() {
  return {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10};
}
inline std::vector<double> LongTimes() {
  return {0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000};
}

}  // namespace hone

#endif  // HONE_SUPPORT_HISTOGRAM_H_
