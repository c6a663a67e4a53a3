// The searches a job may ask for, by name.
#ifndef HONE_TUNER_SEARCHES_H_
#define HONE_TUNER_SEARCHES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tuner/search.h"

namespace hone::tuner {

// Owns one search for each name. Find is thread-safe; a search is used by one thread at a time.
class Searches {
 public:
  void Add(const std::string& name, std::unique_ptr<Search> search) {
    searches_[name] = std::move(search);
  }
  Search* Find(const std::string& name) const {
    const auto it = searches_.find(name);
    return it == searches_.end() ? nullptr : it->second.get();
  }

 private:
  std::map<std::string, std::unique_ptr<Search>> searches_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SEARCHES_H_
