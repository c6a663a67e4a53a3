// Helper functions that emitted code calls, for what OpenCL C lacks or defines differently.
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
  // For integers: quotient and remainder of a division by zero are 0, and division by -1 wraps
  // around.
  kDivide,
  kModulo,
  kFloorDivide,
  kFloorModulo,  // also for floats
  kPower,
  // Any count is allowed: from the type's width on, the result is 0, or for kShiftRight the sign.
  kShiftLeft,
  kShiftRight,
  // For floats.
  kMin,  // NaN if either operand is
  kMax,
  kSign,
  kSigmoid,
  // From float to the nearest 16-bit float.
  kRoundHalf,
  kRoundBFloat16,
  // From double, long or ulong to float, rounded to odd: an inexact result has its last bit set, so
  // that a second rounding gives the result of a single one.
  kOddFloat
};

// The helpers that a program calls, each once, and after the helpers that it calls itself. Not
// thread-safe.
class Helpers {
 public:
  // Writes a call of the helper for `type`, and defines it if it is new.
  CText Call(Helper helper, const std::vector<CText>& arguments, CType type);
  // Truncates and saturates; NaN gives 0.
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
