// Names that no two processes choose alike.
#ifndef HONE_SUPPORT_RANDOM_ID_H_
#define HONE_SUPPORT_RANDOM_ID_H_

#include <cstddef>
#include <string>

namespace hone {

// `bytes` of the system's randomness (at most 256) as lowercase hexadecimal digits, two a byte.
std::string RandomId(size_t bytes);

}  // namespace hone

#endif  // HONE_SUPPORT_RANDOM_ID_H_
