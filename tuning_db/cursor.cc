#include "tuning_db/cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace hone::tuning_db {
namespace {

char Letter(Order order) { return order == Order::kOldestFirst ? 'o' : 'n'; }

}  // namespace

std::string ToCursor(Order order, int64_t sequence) {
  return fmt::format("{}{:x}", Letter(order), sequence);
}

absl::StatusOr<int64_t> FromCursor(Order order, const std::string& cursor) {
  if (cursor.empty()) {
    return order == Order::kOldestFirst ? 0 : std::numeric_limits<int64_t>::max();
  }
  int64_t sequence = 0;
  const char* const end = cursor.data() + cursor.size();
  const auto [rest, error] = std::from_chars(cursor.data() + 1, end, sequence, 16);
  if (cursor[0] == Letter(order) && error == std::errc() && rest == end && sequence >= 0) {
    return sequence;
  }
  return absl::InvalidArgumentError(
      fmt::format("expected where an earlier page of the list ended, found \"{}\"", cursor));
}

}  // namespace hone::tuning_db
