// The quarantines that operators set on workers and devices.
#ifndef HONE_TUNER_FARM_QUARANTINES_H_
#define HONE_TUNER_FARM_QUARANTINES_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tuning_db/quarantine_store.h"

namespace hone::tuner {

// A copy of those in the store. Not thread-safe.
class Quarantines {
 public:
  void Replace(const std::vector<tuning_db::Quarantine>& all) {
    known_.clear();
    for (const tuning_db::Quarantine& quarantine : all) Set(quarantine);
  }
  void Set(const tuning_db::Quarantine& quarantine) {
    known_[{quarantine.worker, quarantine.device}] = quarantine;
  }
  void End(const tuning_db::Quarantine& quarantine) {
    known_.erase({quarantine.worker, quarantine.device});
  }

  bool Has(const std::string& worker, const std::string& device) const {
    return known_.contains({worker, device});
  }
  // Whether the device gets nothing, because it or its whole worker is in quarantine.
  bool Covers(const std::string& worker, const std::string& device) const {
    return !known_.empty() && (Has(worker, "") || Has(worker, device));
  }
  // The quarantine of the worker itself comes first, then those of its devices.
  std::vector<tuning_db::Quarantine> Of(const std::string& worker) const {
    std::vector<tuning_db::Quarantine> found;
    for (auto it = known_.lower_bound({worker, ""});
         it != known_.end() && it->first.first == worker; ++it) {
      found.push_back(it->second);
    }
    return found;
  }
  std::vector<tuning_db::Quarantine> All() const {
    std::vector<tuning_db::Quarantine> all;
    for (const auto& [key, quarantine] : known_) all.push_back(quarantine);
    return all;
  }
  size_t size() const { return known_.size(); }

 private:
  std::map<std::pair<std::string, std::string>, tuning_db::Quarantine> known_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_QUARANTINES_H_
