#include "compiler/schedule/generic/result_vectors.h"

#include <algorithm>
#include <numeric>

#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {

int64_t ResultsAtOnce(const loop::Nest& nest, const Stage& results, int64_t extent) {
  constexpr int64_t kMostResults = 8;
  const absl::StatusOr<loop::Buffer> buffer = FindBuffer(nest, results.buffer());
  if (!buffer.ok() || (*buffer)->shape.empty()) return 1;
  const int64_t most =
      std::min(kMostResults, kMostVectorBytes / static_cast<int64_t>(SizeBytes((*buffer)->dtype)));
  return std::gcd(std::gcd((*buffer)->shape.back(), extent), most);
}

}  // namespace hone::schedule
