// Decides when anchors are timed, and keeps their times.
#ifndef HONE_MEASURE_SERVER_ANCHOR_TIMES_H_
#define HONE_MEASURE_SERVER_ANCHOR_TIMES_H_

#include <cstdint>
#include <map>
#include <string>

namespace hone::measure {

// An anchor's times show how the machine drifts. It drifts slowly, so each anchor is due every ten
// seconds, or less often if timing it would take more than a twentieth of the time. Beyond kMost
// anchors, the one that was due first is forgotten. `now_ns` is of the caller's clock. Not
// thread-safe.
class AnchorTimes {
 public:
  static constexpr size_t kMost = 4096;

  bool IsDue(const std::string& key, int64_t now_ns) const;
  // Keeps a time, or 0 for an anchor that failed, which is not tried again before it is due.
  // `spent_ns` is how long timing it took.
  void Note(const std::string& key, double time_ns, int64_t now_ns, int64_t spent_ns);
  // The newest time; 0 if there is none or if the anchor failed.
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
