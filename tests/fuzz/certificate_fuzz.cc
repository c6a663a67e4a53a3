// Certificates that a server or a client shows, and files of them.
#include "tests/fuzz/fuzz_input.h"
#include "transport/certificates.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hone;
  const std::string_view pem = fuzz::Text(data, size);
  const auto fingerprint = LastFingerprintOf(pem);
  const bool is_read = FingerprintOf(pem).ok();
  if (is_read) fuzz::Require(fingerprint.ok(), "a text with a first certificate has a last one");
  (void)EndOf(pem);
  (void)CommonNameOf(pem);
  constexpr int64_t kNowS = 1'800'000'000;
  const std::string other(64, '0');
  fuzz::Require(!VerifyServerChain(pem, other, kNowS).ok(), "nobody has that fingerprint");
  if (fingerprint.ok()) (void)VerifyServerChain(pem, *fingerprint, kNowS);
  return 0;
}
