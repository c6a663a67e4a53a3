// The parameter section of a module: one copy per (constant, layout).
#ifndef HONE_COMPILER_DRIVER_PARAMETERS_H_
#define HONE_COMPILER_DRIVER_PARAMETERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::driver {

// Collects blobs and says where each lies. Equal bytes are stored once, whichever constants they
// came from. Not thread-safe.
class ParameterSection {
 public:
  // The offset of the blob in the section: a multiple of HONE_BUFFER_ALIGNMENT.
  uint64_t Add(const ir::ConstantData& blob);

  uint64_t size_bytes() const { return size_bytes_; }
  struct Entry {
    uint64_t offset_bytes = 0;
    ir::ConstantData blob;
  };
  // In the order of their offsets.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, uint64_t> offset_of_digest_;
  uint64_t size_bytes_ = 0;
};

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_PARAMETERS_H_
