// The names of the searches. Stored jobs have these names, so they do not change.
// tuner/search/registry.cc makes the searches: code that only names them does not link them.
#ifndef HONE_TUNER_SEARCH_NAMES_H_
#define HONE_TUNER_SEARCH_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace hone::tuner {

struct SearchName {
  std::string_view name;
  // Its jobs measure data for the analytic model and look for no winner; users do not ask for it by
  // name.
  bool calibrates = false;
};

inline constexpr SearchName kDefaultSearch = {"xgboost"};
inline constexpr SearchName kGridSearch = {"grid"};
inline constexpr SearchName kRandomSearch = {"random"};
inline constexpr SearchName kCalibratingSearch = {"tiles", /*calibrates=*/true};

inline constexpr SearchName kSearches[] = {kDefaultSearch, kRandomSearch, kGridSearch,
                                           kCalibratingSearch};

// The names that users may ask for, the default first.
inline std::vector<std::string> SearchesForUsers() {
  std::vector<std::string> names;
  for (const SearchName& search : kSearches) {
    if (!search.calibrates) names.emplace_back(search.name);
  }
  return names;
}

}  // namespace hone::tuner

#endif  // HONE_TUNER_SEARCH_NAMES_H_
