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

struct Sha256Stream::State {
  State() : context(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context, EVP_sha256(), nullptr); }
  ~State() { EVP_MD_CTX_free(context); }
  EVP_MD_CTX* context;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;

void Sha256Stream::Add(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::array<uint8_t, 32> Sha256Stream::Finish() {
  std::array<uint8_t, 32> digest;
  unsigned int size = digest.size();
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  return digest;
}

}  // namespace hone
