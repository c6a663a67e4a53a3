#include "tuning_db/sqlite/packed_reals.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace hone::tuning_db::sqlite {
namespace {

static_assert(std::endian::native == std::endian::little, "figures are stored as their bytes");

constexpr size_t kWidth = sizeof(double);
// One byte of each figure is written even where all are equal: it says that the figure is there.
constexpr size_t kMostShared = kWidth - 1;

void Append(std::string& bytes, double value, size_t count) {
  char of_value[kWidth];
  std::memcpy(of_value, &value, kWidth);
  bytes.append(of_value, count);
}

}  // namespace

std::string PackReals(const std::vector<double>& values) {
  std::string bytes;
  if (values.empty()) return bytes;
  size_t shared = kMostShared;
  for (const double value : values) {
    const uint64_t difference =
        std::bit_cast<uint64_t>(value) ^ std::bit_cast<uint64_t>(values.front());
    shared = std::min(shared, static_cast<size_t>(std::countl_zero(difference)) / 8);
  }
  bytes.push_back(static_cast<char>(shared));
  Append(bytes, values.front(), kWidth);
  for (size_t i = 1; i < values.size(); ++i) Append(bytes, values[i], kWidth - shared);
  return bytes;
}

std::optional<std::vector<double>> UnpackReals(std::string_view bytes) {
  std::vector<double> values;
  if (bytes.empty()) return values;
  const size_t shared = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  if (shared > kMostShared || bytes.size() < kWidth) return std::nullopt;
  double value = 0;
  std::memcpy(&value, bytes.data(), kWidth);
  bytes.remove_prefix(kWidth);
  values.push_back(value);
  const size_t width = kWidth - shared;
  if (bytes.size() % width != 0) return std::nullopt;
  for (; !bytes.empty(); bytes.remove_prefix(width)) {
    std::memcpy(&value, bytes.data(), width);  // the high bytes stay
    values.push_back(value);
  }
  return values;
}

}  // namespace hone::tuning_db::sqlite
