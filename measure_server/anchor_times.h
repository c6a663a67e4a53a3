// Decides when anchors are timed, and keeps their times.
#ifndef HONE_MEASURE_SERVER_ANCHOR_TIMES_H_
#define HONE_MEASURE_SERVER_ANCHOR_TIMES_H_

#include <cstdint>
#include <map>
#include <string>

namespace hone::measure {

// Times show how the machine drifts, which is slow: each anchor is due every ten seconds, or less
// often where timing it would take more than a twentieth of the time. Of many thousand anchors
// those that were due first are forgotten. Times are of the caller's clock. Not thread-safe.
class AnchorTimes {
 public:
  static constexpr size_t kMost = 4096;

  bool IsDue(const std::string& key, int64_t now_ns) const;
  // A time, or 0 for an anchor that failed, which is not tried again before it is due. `spent_ns`:
  // what it took.
  void Note(const std::string& key, double time_ns, int64_t now_ns, int64_t spent_ns);
  // The newest; 0: none.
  double Newest(const std::string& key) const;

 private:
  struct Entry {
    double time_ns = 0;
    int64_t due_ns = 0;
  };

  std::map<std::string, Entry> entries_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ANCHOR_TIMES_H_
