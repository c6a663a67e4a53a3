// The devices that may be given work now, for other threads to ask about.
#ifndef HONE_TUNER_FARM_SERVED_DEVICES_H_
#define HONE_TUNER_FARM_SERVED_DEVICES_H_

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hone/v1/farm.pb.h"

namespace hone::tuner {

// Thread-safe.
class ServedDevices {
 public:
  // True: they differ from those before.
  bool Set(const std::vector<hone::v1::Device>& devices);
  // Whether one of them can measure code for the target (canonical text, -threads included).
  bool Serves(const std::string& target) const;

 private:
  mutable std::mutex mutex_;
  std::vector<hone::v1::Device> devices_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_SERVED_DEVICES_H_
