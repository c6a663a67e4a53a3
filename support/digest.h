// SHA-256 digests, by which workloads, configs, nests and artifacts are addressed.
#ifndef HONE_SUPPORT_DIGEST_H_
#define HONE_SUPPORT_DIGEST_H_

#include <string>
#include <string_view>

namespace hone {

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace hone

#endif  // HONE_SUPPORT_DIGEST_H_
