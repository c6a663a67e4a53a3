#include "compiler/codegen/opencl/conversion.h"

#include <fmt/format.h>

#include "compiler/codegen/opencl/float_arithmetic.h"

namespace hone::codegen::opencl {
namespace {

bool IsHalfSize(DataType dtype) { return IsFloat(dtype) && SizeBytes(dtype) == 2; }

// Whether float holds all of them.
bool IsExactInFloat(const loop::Interval& range) {
  constexpr int64_t kMost = int64_t{1} << 24;
  return range.Within(-kMost, kMost);
}

CText IntToInt(const IntOperand& value, DataType to) {
  // Numbers of int64 that fit are ints, and narrower ones become so by themselves.
  if (to == DataType::kInt64 && FitsInt(value.range) && value.text.type <= CType::kInt) {
    return value.text;
  }
  return As(value.text, RegisterTypeOf(to));
}

CText IntToFloat(Helpers& helpers, const IntOperand& value, DataType to) {
  // What is too large for float's bits is infinite as float16: to there it is rounded once.
  const bool rounds_twice = to == DataType::kBFloat16 && !IsExactInFloat(value.range);
  if (!rounds_twice) return RoundTo(helpers, As(value.text, RegisterTypeOf(to)), to);
  const CType wide = value.text.type == CType::kUlong ? CType::kUlong : CType::kLong;
  return RoundTo(helpers, helpers.Call(Helper::kOddFloat, {As(value.text, wide)}, wide), to);
}

CText FloatToFloat(Helpers& helpers, const CText& value, DataType to) {
  if (IsHalfSize(to) && value.type == CType::kDouble) {
    return RoundTo(helpers, helpers.Call(Helper::kOddFloat, {value}, CType::kDouble), to);
  }
  return RoundTo(helpers, As(value, RegisterTypeOf(to)), to);
}

}  // namespace

CText Convert(Helpers& helpers, const IntOperand& value, DataType from, DataType to) {
  if (from == to) return value.text;
  if (to == DataType::kBool) return Truth(value.text);
  if (!IsFloat(from)) {
    return IsFloat(to) ? IntToFloat(helpers, value, to) : IntToInt(value, to);
  }
  if (!IsFloat(to)) return helpers.FloatToInt(value.text, RegisterTypeOf(to));
  if (to == DataType::kFloat32 && IsHalfSize(from)) return value.text;
  return FloatToFloat(helpers, value.text, to);
}

CText LoadGlobal(const std::string& buffer, const CText& offset, DataType dtype) {
  const std::string element = fmt::format("{}[{}]", buffer, offset.code);
  switch (dtype) {
    case DataType::kFloat16:
      return {.code = fmt::format("vload_half({}, {})", offset.code, buffer),
              .type = CType::kFloat};
    case DataType::kBFloat16:
      return {.code = fmt::format("as_float((uint){} << 16)", element), .type = CType::kFloat};
    default:
      return FromPrivate({.code = element, .type = PrivateTypeOf(dtype)}, dtype);
  }
}

std::string StoreGlobal(const std::string& buffer, const CText& offset, const CText& value,
                        DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
      return fmt::format("vstore_half({}, {}, {});", value.code, offset.code, buffer);
    case DataType::kBFloat16:
      return fmt::format("{}[{}] = (ushort)(as_uint({}) >> 16);", buffer, offset.code, value.code);
    default:
      return fmt::format("{}[{}] = {};", buffer, offset.code, value.code);
  }
}

CText FromPrivate(const CText& element, DataType dtype) {
  return dtype == DataType::kBool ? Truth(element) : element;
}

}  // namespace hone::codegen::opencl
