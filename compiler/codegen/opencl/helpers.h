// Functions of Hone's own that emitted code calls: what OpenCL C has none for, or has with another
// meaning.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_HELPERS_H_
#define HONE_COMPILER_CODEGEN_OPENCL_HELPERS_H_

#include <string>
#include <vector>

#include "compiler/codegen/opencl/c_text.h"

namespace hone::codegen::opencl {

struct HelperFunction {
  std::string name;
  std::string text;  // its definition

  bool operator==(const HelperFunction&) const = default;
};

enum class Helper {
  // For integers: a division by zero, and what it leaves, is 0; -1 divides every number.
  kDivide,
  kModulo,
  kFloorDivide,
  kFloorModulo,  // of floats too
  kPower,
  // By any count: nothing is left beyond the type's bits but the sign.
  kShiftLeft,
  kShiftRight,
  // For floats.
  kMin,  // NaN where either is
  kMax,
  kSign,
  kSigmoid,
  // For float: the nearest one of the 16 bits.
  kRoundHalf,
  kRoundBFloat16,
  // To float, so that rounding once more rounds as if it were the first time: what is not exact
  // has its last bit set. From double, long and ulong.
  kOddFloat
};

// Those that a program calls, each once, after those that they call. Not thread-safe.
class Helpers {
 public:
  // Calls one for the type that it computes with.
  CText Call(Helper helper, const std::vector<CText>& arguments, CType type);
  // Truncates and saturates; NaN is 0.
  CText FloatToInt(const CText& value, CType to);

  const std::vector<HelperFunction>& functions() const { return functions_; }

 private:
  void Define(Helper helper, CType type, const std::string& name);
  void Add(const std::string& name, std::string text);
  bool Has(const std::string& name) const;

  std::vector<HelperFunction> functions_;
};

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_HELPERS_H_
