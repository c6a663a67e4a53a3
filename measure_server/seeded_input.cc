#include "measure_server/seeded_input.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "measure_server/element.h"
#include "measure_server/layout_map.h"
#include "runtime/data_type.h"

namespace hone::measure {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;

// Into loops of several vector widths.
#define HONE_INLINE __attribute__((always_inline)) inline

HONE_INLINE uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

uint64_t Pick(uint64_t draw, uint64_t count) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((Wide{draw} * count) >> 64);
}

// Values low, low + 1, ..., low + count - 1; count 0: uniform in [low, high).
struct Range {
  double low = 0;
  double high = 0;
  uint64_t count = 0;
};

Range Integers(double low, double high) {
  return {low, high, static_cast<uint64_t>(high - low) + 1};
}

// At most five integers, as near to 0 as the domain allows.
Range FewIntegers(double low, double high) {
  low = std::ceil(low);
  high = std::floor(high);
  const double first = std::clamp(-2.0, low, std::max(low, high - 4));
  return Integers(first, std::min(high, first + 4));
}

Range RangeOf(const hone_buffer& buffer, DataType type, InputSet set) {
  const bool has_domain = buffer.domain_low != 0 || buffer.domain_high != 0;
  if (type == DataType::kBool) return Integers(0, 1);
  if (IsInteger(type)) {
    if (has_domain) return Integers(std::ceil(buffer.domain_low), std::floor(buffer.domain_high));
    const double reach = set == InputSet::kExact ? 2 : 16;
    return IsUnsigned(type) ? Integers(0, 2 * reach) : Integers(-reach, reach);
  }
  if (!has_domain) return set == InputSet::kExact ? Integers(-2, 2) : Range{-1, 1, 0};
  const bool has_integers = std::ceil(buffer.domain_low) <= std::floor(buffer.domain_high);
  if (set == InputSet::kExact && has_integers) {
    return FewIntegers(buffer.domain_low, buffer.domain_high);
  }
  return {buffer.domain_low, buffer.domain_high, 0};
}

// Elements first, first + 1, ... of a stream, into floats that lie side by side: what large
// constants are drawn by, anew for each candidate. The same values as one by one.
HONE_INLINE void DrawRow(uint64_t stream, uint64_t first, int64_t count, const Range& range,
                         float* row) {
  const double low = range.low;
  const double width = range.high - range.low;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t draw = Mix(stream + (first + static_cast<uint64_t>(i) + 1) * kGolden);
    row[i] = static_cast<float>(low + width * (static_cast<double>(draw >> 11) * 0x1.0p-53));
  }
}

// `range.count` is below 2^31.
HONE_INLINE void PickRow(uint64_t stream, uint64_t first, int64_t count, const Range& range,
                         float* row) {
  const double low = range.low;
  const uint64_t choices = range.count;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t draw = Mix(stream + (first + static_cast<uint64_t>(i) + 1) * kGolden);
    // Pick, in halves that vectors multiply.
    const uint64_t picked =
        ((draw >> 32) * choices + (((draw & 0xFFFFFFFFu) * choices) >> 32)) >> 32;
    row[i] = static_cast<float>(low + static_cast<double>(static_cast<int32_t>(picked)));
  }
}

HONE_INLINE void FillRow(uint64_t stream, uint64_t first, int64_t count, const Range& range,
                         float* row) {
  range.count > 0 ? PickRow(stream, first, count, range, row)
                  : DrawRow(stream, first, count, range, row);
}

using RowFiller = void (*)(uint64_t stream, uint64_t first, int64_t count, const Range& range,
                           float* row);

void FillRowAnywhere(uint64_t stream, uint64_t first, int64_t count, const Range& range,
                     float* row) {
  FillRow(stream, first, count, range, row);
}

#if defined(__x86_64__)
// Vectors that multiply 64-bit integers: a third of the time.
__attribute__((target("avx512f,avx512dq,avx512vl"))) void FillRowWide(uint64_t stream,
                                                                      uint64_t first, int64_t count,
                                                                      const Range& range,
                                                                      float* row) {
  FillRow(stream, first, count, range, row);
}
#endif

RowFiller ChooseRowFiller() {
#if defined(__x86_64__)
  const bool is_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl");
  if (is_wide) return FillRowWide;
#endif
  return FillRowAnywhere;
}

// Whether the buffer is filled row by row.
bool FillRows(const LayoutMap& map, DataType type, const Range& range, uint64_t stream,
              void* data) {
  if (type != DataType::kFloat32 || !map.HasContiguousRows() || range.count >> 31 != 0) {
    return false;
  }
  const RowFiller fill_row = ChooseRowFiller();
  map.ForEachRow([&](int64_t linear, int64_t base) {
    float* row = static_cast<float*>(data) + base;
    const auto first = static_cast<uint64_t>(linear);
    fill_row(stream, first, map.shape().back(), range, row);
  });
  return true;
}

// Offsets of the rows of a sparse matrix: every number of rows and non-zeros has such.
void FillAscending(const hone_buffer& buffer, uint64_t stream, void* data) {
  const LayoutMap map = LayoutMap::Of(buffer);
  const Range range = Integers(buffer.domain_low, std::max(buffer.domain_low, buffer.domain_high));
  std::vector<double> values(static_cast<size_t>(map.logical_count()));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t draw = Mix(stream + (static_cast<uint64_t>(i) + 1) * kGolden);
    values[i] = range.low + static_cast<double>(Pick(draw, range.count));
  }
  if (!values.empty()) values.back() = range.high;
  if (!values.empty()) values.front() = range.low;
  std::sort(values.begin(), values.end());
  map.ForEach([&](int64_t linear, int64_t offset) {
    StoreElement(static_cast<DataType>(buffer.dtype), data, offset,
                 values[static_cast<size_t>(linear)]);
  });
}

}  // namespace

void FillSeeded(const hone_buffer& buffer, uint32_t operand, uint64_t seed, InputSet set,
                void* data) {
  const auto type = static_cast<DataType>(buffer.dtype);
  const Range range = RangeOf(buffer, type, set);
  const uint64_t stream = Mix(Mix(seed) + 4 * uint64_t{operand} + static_cast<uint64_t>(set));
  const LayoutMap map = LayoutMap::Of(buffer);
  if (map.memory_count() != map.logical_count()) std::memset(data, 0, buffer.size_bytes);
  if ((buffer.flags & HONE_BUFFER_ASCENDING) != 0) return FillAscending(buffer, stream, data);
  if (FillRows(map, type, range, stream, data)) return;
  map.ForEach([&](int64_t linear, int64_t offset) {
    const uint64_t draw = Mix(stream + (static_cast<uint64_t>(linear) + 1) * kGolden);
    const double value =
        range.count > 0
            ? range.low + static_cast<double>(Pick(draw, range.count))
            : range.low + (range.high - range.low) * (static_cast<double>(draw >> 11) * 0x1.0p-53);
    StoreElement(type, data, offset, value);
  });
}

}  // namespace hone::measure
