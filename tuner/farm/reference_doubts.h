// Who said of which workload that its reference does not run. A job ends by that, so one worker's
// word is not enough.
#ifndef HONE_TUNER_FARM_REFERENCE_DOUBTS_H_
#define HONE_TUNER_FARM_REFERENCE_DOUBTS_H_

#include <map>
#include <set>
#include <string>

namespace hone::tuner {

// Not thread-safe.
class ReferenceDoubts {
 public:
  // The worker says so once more. True: it is believed, since a second worker says the same, or it
  // was said three times where nobody else is asked; and the workload is forgotten.
  bool IsBelieved(const std::string& workload_digest, const std::string& worker);
  // A reference that ran.
  void Forget(const std::string& workload_digest) { claims_.erase(workload_digest); }

 private:
  struct Claims {
    std::set<std::string> workers;
    int count = 0;
  };
  std::map<std::string, Claims> claims_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_REFERENCE_DOUBTS_H_
