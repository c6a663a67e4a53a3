// Which Hone this is.
#ifndef HONE_SUPPORT_VERSION_H_
#define HONE_SUPPORT_VERSION_H_

namespace hone {

// "0.1.0": that of the top CMake file.
const char* Version();

}  // namespace hone

#endif  // HONE_SUPPORT_VERSION_H_
