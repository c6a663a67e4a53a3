// The version of Hone.
#ifndef HONE_SUPPORT_VERSION_H_
#define HONE_SUPPORT_VERSION_H_

namespace hone {

// The version in the top CMakeLists.txt, such as "0.1.0".
const char* Version();

}  // namespace hone

#endif  // HONE_SUPPORT_VERSION_H_
