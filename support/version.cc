#include "support/version.h"

namespace hone {

const char* Version() { return HONE_VERSION; }

}  // namespace hone
