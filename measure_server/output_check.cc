#include "measure_server/output_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure_server/element.h"
#include "measure_server/layout_map.h"
#include "runtime/data_type.h"

namespace hone::measure {
namespace {

// Below it float32 has no precision left; results there may be flushed to zero.
constexpr double kFloor = 1e-37;

// Algorithms that transform their data spread its rounding over neighbouring results, also over one
// whose own products are none or nearly so: their magnitudes count as this share of the largest at
// least.
constexpr double kLeastMagnitude = 1.0 / 16;
// For sums of few terms the bound would be less than what the transforms themselves round: so many
// roundings of the largest count anyhow.
constexpr double kLeastRoundings = 16;

double Largest(const double* magnitudes, int64_t count) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (std::isfinite(magnitudes[i])) largest = std::max(largest, magnitudes[i]);
  }
  return largest;
}

// What rounding the result to the output's type may add, relative to its value. That of float32 is
// in the bound.
double StoreError(DataType type) {
  if (type == DataType::kFloat16) return 0x1p-11;
  if (type == DataType::kBFloat16) return 0x1p-8;
  return 0;
}

// |error| over what is allowed; above 1 is wrong.
double Ratio(double found, double expected, double allowed) {
  if (std::isnan(expected) || std::isnan(found)) {
    return std::isnan(expected) && std::isnan(found) ? 0 : INFINITY;
  }
  if (std::isinf(expected) || std::isinf(found)) return expected == found ? 0 : INFINITY;
  return std::fabs(found - expected) / allowed;
}

std::string Position(const std::vector<int64_t>& shape, int64_t linear) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = linear % shape[axis];
    linear /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

// A NaN's sign means nothing.
std::string Text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

bool IsZero(const char* bytes, int size) {
  return std::all_of(bytes, bytes + size, [](char byte) { return byte == 0; });
}

// The largest error over what is allowed, of float32 without NaN and infinities; nullopt where
// there are such, or one is wrong. No branches: nearly every check ends here.
std::optional<double> RatioOfPlainFloats(const LayoutMap& map, const float* data,
                                         const ReferenceOutput& reference, double rounding,
                                         double least) {
  if (map.shape().empty()) return std::nullopt;
  const int64_t* const terms = map.row_terms().data();
  const auto extent = static_cast<int64_t>(map.row_terms().size());
  double worst = 0;
  bool is_right = true;
  map.ForEachRow([&](int64_t linear, int64_t base) {
    for (int64_t i = 0; i < extent; ++i) {
      const double expected = reference.values[linear + i];
      const double magnitude = reference.magnitudes[linear + i];
      const double allowed = rounding * (magnitude < least ? least : magnitude) + kFloor;
      const double ratio = std::fabs(data[base + terms[i]] - expected) / allowed;
      worst = ratio > worst ? ratio : worst;
      is_right = is_right & (ratio <= 1);
    }
  });
  if (!is_right) return std::nullopt;
  return worst;
}

// Pad lanes are zero; otherwise a sentence.
std::string FindDirtyLane(const hone_buffer& output, const LayoutMap& map, const void* data) {
  const int element_bytes = SizeBytes(static_cast<DataType>(output.dtype));
  for (const int64_t lane : map.PadLanes()) {
    if (IsZero(static_cast<const char*>(data) + lane * element_bytes, element_bytes)) continue;
    return fmt::format("{} has a pad lane that is not zero, at element {} in memory", output.name,
                       lane);
  }
  return "";
}

OutputVerdict VerdictOf(std::string message, double error_ratio) {
  OutputVerdict verdict;
  verdict.ok = message.empty();
  verdict.error_ratio = error_ratio;
  verdict.message = std::move(message);
  return verdict;
}

}  // namespace

OutputVerdict CheckOutput(const hone_buffer& output, const void* data,
                          const ReferenceOutput& reference, double error_bound) {
  const auto type = static_cast<DataType>(output.dtype);
  const LayoutMap map = LayoutMap::Of(output);
  const bool is_float = IsFloat(type);
  // The magnitude of an integer is a step of a quantised value: it does not grow with the terms.
  constexpr double kLeastBound = 17;
  const double rounding = (is_float ? std::max(error_bound, 1.0) : kLeastBound) * 0x1p-24;
  const double store_error = StoreError(type);
  const bool has_least = is_float && (output.flags & HONE_BUFFER_TRANSFORMED) != 0;
  const double share =
      std::max(kLeastMagnitude, std::min(1.0, kLeastRoundings * 0x1p-24 / rounding));
  const double least = has_least ? share * Largest(reference.magnitudes, map.logical_count()) : 0;
  if (type == DataType::kFloat32) {
    const auto ratio =
        RatioOfPlainFloats(map, static_cast<const float*>(data), reference, rounding, least);
    if (ratio) return VerdictOf(FindDirtyLane(output, map, data), *ratio);
  }
  OutputVerdict verdict;
  int64_t wrong = 0;
  map.ForEach([&](int64_t linear, int64_t offset) {
    const double found = LoadElement(type, data, offset);
    const double expected = reference.values[linear];
    // Integers are exact, but for the steps that the reference lets quantised floats take.
    const double rounded = rounding * std::max(reference.magnitudes[linear], least);
    const double allowed = rounded + (is_float ? store_error * std::fabs(expected) + kFloor : 0.5);
    const double ratio = Ratio(found, expected, allowed);
    if (is_float) verdict.error_ratio = std::max(verdict.error_ratio, ratio);
    if (ratio <= 1) return;
    if (wrong++ > 0) return;
    verdict.message = fmt::format("{}{} is {}, expected {} with an error of at most {:.3g}",
                                  output.name, Position(map.shape(), linear), Text(found),
                                  Text(expected), is_float ? allowed : rounded);
  });
  if (wrong > 0) {
    verdict.ok = false;
    verdict.message += fmt::format("; {} of {} elements are wrong", wrong, map.logical_count());
    return verdict;
  }
  return VerdictOf(FindDirtyLane(output, map, data), verdict.error_ratio);
}

}  // namespace hone::measure
