// Cursors, which say where a page of a list begins. They are opaque to users and the same for every
// store.
#ifndef HONE_TUNING_DB_CURSOR_H_
#define HONE_TUNING_DB_CURSOR_H_

#include <compare>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// The cursor of the page that begins after the entry with this number in the order of commits.
std::string ToCursor(Order order, int64_t sequence);
// The number in a cursor of this order; for an empty text, the number before the first entry.
// kInvalidArgument for any other text.
absl::StatusOr<int64_t> FromCursor(Order order, const std::string& cursor);

// The place of a final in the list of finals, which goes by task and then by id.
struct FinalPlace {
  int64_t task = 0;
  int64_t final = 0;
  friend auto operator<=>(const FinalPlace&, const FinalPlace&) = default;
};
std::string ToFinalCursor(const FinalPlace& place);
absl::StatusOr<FinalPlace> FromFinalCursor(const std::string& cursor);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_CURSOR_H_
