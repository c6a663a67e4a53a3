// Digests as they are stored: 32 bytes instead of 64 digits.
#ifndef HONE_TUNING_DB_DIGEST_BYTES_H_
#define HONE_TUNING_DB_DIGEST_BYTES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hone::tuning_db {

using DigestBytes = std::array<uint8_t, 32>;

// nullopt unless the text is 64 lower-case hexadecimal digits.
std::optional<DigestBytes> DigestToBytes(std::string_view text);
std::string DigestToText(const DigestBytes& bytes);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_DIGEST_BYTES_H_
