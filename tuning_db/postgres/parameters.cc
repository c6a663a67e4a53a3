#include "tuning_db/postgres/parameters.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "tuning_db/digest_bytes.h"

namespace hone::tuning_db::postgres {

static_assert(std::endian::native == std::endian::little, "figures are stored as their bytes");

void Parameters::Add(double value) {
  if (std::isnan(value)) return AddNull();
  if (std::isinf(value)) return AddText(value > 0 ? "Infinity" : "-Infinity");
  AddText(fmt::format("{}", value));
}

// A digest has 32 bytes. Any other text is preceded by zeros that make it longer than that.
void Parameters::Add(const Digest& digest) {
  if (const auto bytes = DigestToBytes(digest.text)) {
    return AddBinary({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  }
  if (digest.text.empty()) return AddBinary("");
  constexpr size_t kLonger = sizeof(DigestBytes) + 1;
  const size_t zeros = digest.text.size() < kLonger ? kLonger - digest.text.size() : 1;
  AddBinary(std::string(zeros, '\0') + std::string(digest.text));
}

void Parameters::Add(const std::vector<double>& values) {
  AddBinary({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
}

void Parameters::Add(const std::vector<int64_t>& values) {
  AddText(fmt::format("{{{}}}", fmt::join(values, ",")));
}

std::vector<const char*> Parameters::Values() const {
  std::vector<const char*> pointers;
  for (const Value& value : values_) {
    pointers.push_back(value.is_null ? nullptr : value.bytes.c_str());
  }
  return pointers;
}

std::vector<int> Parameters::Lengths() const {
  std::vector<int> lengths;
  for (const Value& value : values_) lengths.push_back(static_cast<int>(value.bytes.size()));
  return lengths;
}

std::vector<int> Parameters::Formats() const {
  std::vector<int> formats;
  for (const Value& value : values_) formats.push_back(value.is_binary ? 1 : 0);
  return formats;
}

}  // namespace hone::tuning_db::postgres
