// A cache of machine code for launches that many candidates of one task share, such as those that
// pack the same weights in the same way, or make the same padded copy.
#ifndef HONE_COMPILER_CODEGEN_LAUNCH_CACHE_H_
#define HONE_COMPILER_CODEGEN_LAUNCH_CACHE_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace hone::codegen {

// Drops all entries when it would grow beyond its limit. Not thread-safe.
class LaunchCache {
 public:
  explicit LaunchCache(size_t limit_bytes = size_t{16} << 20) : limit_bytes_(limit_bytes) {}

  struct Entry {
    std::string object;  // an ELF object that defines one hidden function
    uint64_t scratch_bytes = 0;
  };

  // `key` must contain everything that the code depends on. Null if there is no entry. The pointer
  // is valid until the next Add.
  const Entry* Find(const std::string& key) const;
  void Add(const std::string& key, Entry entry);

 private:
  size_t limit_bytes_;
  size_t size_bytes_ = 0;
  absl::flat_hash_map<std::string, Entry> entries_;
};

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LAUNCH_CACHE_H_
