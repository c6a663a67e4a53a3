#include "compiler/driver/parameters.h"

#include "runtime/module_abi.h"
#include "support/digest.h"

namespace hone::driver {

uint64_t ParameterSection::Add(const ir::ConstantData& blob) {
  const std::string digest =
      Sha256Hex({reinterpret_cast<const char*>(blob.bytes), blob.size_bytes});
  const auto [it, is_new] = offset_of_digest_.try_emplace(digest, size_bytes_);
  if (is_new) {
    entries_.push_back({size_bytes_, blob});
    size_bytes_ += (blob.size_bytes + HONE_BUFFER_ALIGNMENT - 1) / HONE_BUFFER_ALIGNMENT *
                   HONE_BUFFER_ALIGNMENT;
  }
  return it->second;
}

}  // namespace hone::driver
