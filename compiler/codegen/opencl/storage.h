// Where a kernel's buffers are, and their names in its code.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_STORAGE_H_
#define HONE_COMPILER_CODEGEN_OPENCL_STORAGE_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/expr.h"

namespace hone::codegen::opencl {

struct Storage {
  enum class Place {
    kGlobal,  // an argument: memory of the device
    kArray,   // an array of one work item, or of a work group
    kScalar   // a private variable, for a buffer of one element
  };
  std::string name;
  Place place = Place::kGlobal;
  int64_t elements = 0;
};

using StorageMap = absl::flat_hash_map<const loop::BufferNode*, Storage>;

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_STORAGE_H_
