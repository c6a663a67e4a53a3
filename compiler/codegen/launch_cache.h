// Machine code of launches that candidates of one task have in common: the same weights packed the
// same way, the same padded copy between the same buffers.
#ifndef HONE_COMPILER_CODEGEN_LAUNCH_CACHE_H_
#define HONE_COMPILER_CODEGEN_LAUNCH_CACHE_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace hone::codegen {

// Not thread-safe. Forgets everything where it would grow beyond its limit.
class LaunchCache {
 public:
  explicit LaunchCache(size_t limit_bytes = size_t{16} << 20) : limit_bytes_(limit_bytes) {}

  struct Entry {
    std::string object;  // an ELF object that defines one hidden function
    uint64_t scratch_bytes = 0;
  };

  // `key` says all that the code depends on. nullptr where there is none; valid until the next Add.
  const Entry* Find(const std::string& key) const;
  void Add(const std::string& key, Entry entry);

 private:
  size_t limit_bytes_;
  size_t size_bytes_ = 0;
  absl::flat_hash_map<std::string, Entry> entries_;
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LAUNCH_CACHE_H_
