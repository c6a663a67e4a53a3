// Lists that come in pages, by token.
#ifndef HONE_TUNER_SERVICE_PAGE_H_
#define HONE_TUNER_SERVICE_PAGE_H_

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace hone::tuner {

// Entries of a page: what was asked for, within bounds; 50 where nothing was.
inline int64_t PageSize(uint32_t asked) { return asked == 0 ? 50 : std::min<int64_t>(asked, 1000); }

// The id after which a page begins; 0 for the first one.
inline absl::StatusOr<int64_t> ParseToken(const std::string& token) {
  int64_t id = 0;
  if (token.empty()) return id;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), id);
  if (error != std::errc() || end != token.data() + token.size() || id < 0) {
    return absl::InvalidArgumentError("expected the page token of an earlier page, found \"" +
                                      token + "\"");
  }
  return id;
}

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_PAGE_H_
