#include "tuning_db/digest_bytes.h"

namespace hone::tuning_db {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::optional<DigestBytes> DigestToBytes(std::string_view text) {
  DigestBytes bytes;
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t high = kDigits.find(text[2 * i]);
    const size_t low = kDigits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return bytes;
}

std::string DigestToText(const DigestBytes& bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xF];
  }
  return text;
}

}  // namespace hone::tuning_db
