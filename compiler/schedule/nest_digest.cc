#include "compiler/loop/stmt.h"
#include "compiler/schedule/template.h"
#include "support/digest.h"

namespace hone::schedule {

std::string NestDigest(const loop::Nest& nest) { return Sha256Hex(loop::ToCanonicalText(nest)); }

}  // namespace hone::schedule
