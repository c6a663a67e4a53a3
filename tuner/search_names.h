// The names of the searches, which jobs are stored with, so that they stay. What makes the search
// of a name is in tuner/search/registry.cc: who only names searches does not link them.
#ifndef HONE_TUNER_SEARCH_NAMES_H_
#define HONE_TUNER_SEARCH_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace hone::tuner {

struct SearchName {
  std::string_view name;
  // Its jobs measure for the analytic model, and look for no winner: no user asks for it by hand.
  bool calibrates = false;
};

inline constexpr SearchName kDefaultSearch = {"xgboost"};
inline constexpr SearchName kGridSearch = {"grid"};
inline constexpr SearchName kRandomSearch = {"random"};
inline constexpr SearchName kCalibratingSearch = {"tiles", /*calibrates=*/true};

inline constexpr SearchName kSearches[] = {kDefaultSearch, kRandomSearch, kGridSearch,
                                           kCalibratingSearch};

// Those that users may ask for, the default first.
inline std::vector<std::string> SearchesForUsers() {
  std::vector<std::string> names;
  for (const SearchName& search : kSearches) {
    if (!search.calibrates) names.emplace_back(search.name);
  }
  return names;
}

}  // namespace hone::tuner

#endif  // HONE_TUNER_SEARCH_NAMES_H_
