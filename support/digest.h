// SHA-256 digests, by which workloads, configs, nests and artifacts are addressed.
#ifndef HONE_SUPPORT_DIGEST_H_
#define HONE_SUPPORT_DIGEST_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hone {

// The digest as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

// Digests bytes that come piece by piece. Not thread-safe.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  void Add(std::string_view bytes);
  // Returns the digest. Call this once, after the last Add.
  std::array<uint8_t, 32> Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone

#endif  // HONE_SUPPORT_DIGEST_H_
