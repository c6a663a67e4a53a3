// Where a page of a list begins: opaque to users, the same for every store.
#ifndef HONE_TUNING_DB_CURSOR_H_
#define HONE_TUNING_DB_CURSOR_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// After the entry with this number of the order of commits.
std::string ToCursor(Order order, int64_t sequence);
// The number in a cursor of this order; for an empty one that before the first entry.
// kInvalidArgument for any other text.
absl::StatusOr<int64_t> FromCursor(Order order, const std::string& cursor);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_CURSOR_H_
