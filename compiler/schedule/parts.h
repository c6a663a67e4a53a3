#ifndef HONE_COMPILER_SCHEDULE_PARTS_H_
#define HONE_COMPILER_SCHEDULE_PARTS_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace hone::schedule {

// Cuts an extent into parts of `size` and, if they leave a rest, a last, smaller part. The answer
// has a pair (size, number of parts) for each size of part. size > 0.
inline std::vector<std::pair<int64_t, int64_t>> Parts(int64_t extent, int64_t size) {
  std::vector<std::pair<int64_t, int64_t>> parts;
  if (extent / size > 0) parts.emplace_back(size, extent / size);
  if (extent % size > 0) parts.emplace_back(extent % size, 1);
  return parts;
}

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PARTS_H_
