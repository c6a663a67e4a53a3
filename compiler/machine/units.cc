#include "compiler/machine/units.h"

namespace hone::machine {

bool MatrixUnit::Takes(DataType dtype) const {
  switch (dtype) {
    case DataType::kBFloat16:
      return takes_bfloat16;
    case DataType::kInt8:
    case DataType::kUInt8:
      return takes_bytes;
    default:
      return false;
  }
}

}  // namespace hone::machine
