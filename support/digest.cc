#include "support/digest.h"

#include <openssl/evp.h>

#include <cassert>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace hone {

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[32];
  unsigned int size = sizeof(digest);
  const int ok = EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  assert(ok == 1 && size == sizeof(digest));
  (void)ok;
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace hone
