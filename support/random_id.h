// Names that no two processes choose alike.
#ifndef HONE_SUPPORT_RANDOM_ID_H_
#define HONE_SUPPORT_RANDOM_ID_H_

#include <cstddef>
#include <string>

namespace hone {

// Takes this many bytes (at most 256) from the system's random generator, and writes each as two
// lower-case hexadecimal digits.
std::string RandomId(size_t bytes);

}  // namespace hone

#endif  // HONE_SUPPORT_RANDOM_ID_H_
