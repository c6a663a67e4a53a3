#include "tuning_db/cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace hone::tuning_db {
namespace {

char Letter(Order order) { return order == Order::kOldestFirst ? 'o' : 'n'; }

std::optional<int64_t> ParseHex(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || rest != end || value < 0) return std::nullopt;
  return value;
}

absl::Status NoCursor(const std::string& cursor) {
  return absl::InvalidArgumentError(
      fmt::format("expected where an earlier page of the list ended, found \"{}\"", cursor));
}

}  // namespace

std::string ToCursor(Order order, int64_t sequence) {
  return fmt::format("{}{:x}", Letter(order), sequence);
}

absl::StatusOr<int64_t> FromCursor(Order order, const std::string& cursor) {
  if (cursor.empty()) {
    return order == Order::kOldestFirst ? 0 : std::numeric_limits<int64_t>::max();
  }
  if (cursor[0] != Letter(order)) return NoCursor(cursor);
  const std::optional<int64_t> sequence = ParseHex(std::string_view(cursor).substr(1));
  if (!sequence) return NoCursor(cursor);
  return *sequence;
}

std::string ToFinalCursor(const FinalPlace& place) {
  return fmt::format("f{:x}.{:x}", place.task, place.final);
}

absl::StatusOr<FinalPlace> FromFinalCursor(const std::string& cursor) {
  if (cursor.empty()) return FinalPlace();
  const size_t dot = cursor.find('.');
  if (cursor[0] != 'f' || dot == std::string::npos) return NoCursor(cursor);
  const std::string_view text = cursor;
  const std::optional<int64_t> task = ParseHex(text.substr(1, dot - 1));
  const std::optional<int64_t> final = ParseHex(text.substr(dot + 1));
  if (!task || !final) return NoCursor(cursor);
  return FinalPlace{.task = *task, .final = *final};
}

}  // namespace hone::tuning_db
