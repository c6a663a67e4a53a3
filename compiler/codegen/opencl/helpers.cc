#include "compiler/codegen/opencl/helpers.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace hone::codegen::opencl {
namespace {

// In the texts T is the type, U the one without a sign, BITS its width.
struct Definition {
  const char* name;
  const char* text;                   // of all types, or of signed integers
  const char* of_unsigned = nullptr;  // where those differ
  const char* of_floats = nullptr;    // likewise
};

Definition DefinitionOf(Helper helper) {
  switch (helper) {
    case Helper::kDivide:
      return {"divide", "  return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : a / b;\n",
              "  return b == 0 ? 0 : a / b;\n"};
    case Helper::kModulo:
      return {"modulo", "  return b == 0 || b == -1 ? 0 : a % b;\n",
              "  return b == 0 ? 0 : a % b;\n"};
    case Helper::kFloorDivide:
      return {"floor_divide",
              "  if (b == 0) return 0;\n"
              "  if (b == -1) return (T)(0 - (U)a);\n"
              "  const T quotient = a / b;\n"
              "  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;\n",
              "  return b == 0 ? 0 : a / b;\n"};
    case Helper::kFloorModulo:
      return {"floor_modulo",
              "  if (b == 0 || b == -1) return 0;\n"
              "  const T rest = a % b;\n"
              "  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n",
              "  return b == 0 ? 0 : a % b;\n",
              "  const T rest = fmod(a, b);\n"
              "  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n"};
    case Helper::kPower:
      return {"power",
              "  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;\n"
              "  U power = 1;\n"
              "  U base = (U)a;\n"
              "  for (U left = (U)b; left != 0; left >>= 1) {\n"
              "    if ((left & 1) != 0) power *= base;\n"
              "    base *= base;\n"
              "  }\n"
              "  return (T)power;\n",
              "  T power = 1;\n"
              "  for (; b != 0; b >>= 1) {\n"
              "    if ((b & 1) != 0) power *= a;\n"
              "    a *= a;\n"
              "  }\n"
              "  return power;\n"};
    case Helper::kShiftLeft:
      return {"shift_left", "  return b >= 0 && b < BITS ? (T)((U)a << b) : 0;\n",
              "  return b < BITS ? a << b : 0;\n"};
    case Helper::kShiftRight:
      return {"shift_right", "  return a >> (b >= 0 && b < BITS ? b : BITS - 1);\n",
              "  return b < BITS ? a >> b : 0;\n"};
    case Helper::kMin:
      return {"min", "  return b < a || b != b ? b : a;\n"};
    case Helper::kMax:
      return {"max", "  return b > a || b != b ? b : a;\n"};
    case Helper::kSign:
      return {"sign", "  return a != a ? a : (T)((a > 0) - (a < 0));\n"};
    case Helper::kSigmoid:
      return {"sigmoid",
              "  const T power = exp(-fabs(a));\n"
              "  return (a < 0 ? power : 1) / (1 + power);\n"};
    case Helper::kRoundHalf:
      return {"round_half",
              "  ushort bits;\n"
              "  vstore_half_rte(a, 0, (half*)&bits);\n"
              "  return vload_half(0, (half*)&bits);\n"};
    case Helper::kRoundBFloat16:
      return {
          "round_bfloat16",
          "  const uint bits = as_uint(a);\n"
          "  return a != a ? NAN : as_float((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);\n"};
    case Helper::kOddFloat:
      return {"odd_float",
              "  return a < 0 ? -hone_odd_float_ulong(0 - (ulong)a) : "
              "hone_odd_float_ulong((ulong)a);\n",
              "  const int lost = max(40 - (int)clz(a), 0);\n"
              "  const ulong kept = a >> lost << lost;\n"
              "  return (float)(kept != a ? kept | (ulong)1 << lost : kept);\n",
              "  float near = (float)a;\n"
              "  if (fabs((double)near) > fabs(a)) near = as_float(as_uint(near) - 1);\n"
              "  return (double)near == a || a != a ? near : as_float(as_uint(near) | 1);\n"};
  }
  return {};
}

bool IsOfOneType(Helper helper) {
  return helper == Helper::kRoundHalf || helper == Helper::kRoundBFloat16;
}

CType ResultOf(Helper helper, CType type) {
  return helper == Helper::kOddFloat ? CType::kFloat : type;
}

bool TakesTwo(Helper helper) { return helper <= Helper::kMax; }

std::string NameOf(Helper helper, CType type) {
  const char* const name = DefinitionOf(helper).name;
  return IsOfOneType(helper) ? absl::StrCat("hone_", name)
                             : absl::StrCat("hone_", name, "_", Name(type));
}

// Words of one capital letter stand for themselves nowhere else in the texts.
std::string BodyOf(Helper helper, CType type) {
  const Definition definition = DefinitionOf(helper);
  const char* body = definition.text;
  if (type >= CType::kFloat) {
    if (definition.of_floats != nullptr) body = definition.of_floats;
  } else if (!IsSignedInteger(type) && definition.of_unsigned != nullptr) {
    body = definition.of_unsigned;
  }
  std::string bits = absl::StrCat(BitsOf(type));
  return absl::StrReplaceAll(body, {{"BITS", bits},
                                    {"(T)", absl::StrCat("(", Name(type), ")")},
                                    {"(U)", absl::StrCat("(", Name(UnsignedOf(type)), ")")},
                                    {"T ", absl::StrCat(Name(type), " ")},
                                    {"U ", absl::StrCat(Name(UnsignedOf(type)), " ")}});
}

}  // namespace

bool Helpers::Has(const std::string& name) const {
  return std::ranges::any_of(functions_, [&](const auto& known) { return known.name == name; });
}

void Helpers::Add(const std::string& name, std::string text) {
  if (!Has(name)) functions_.push_back({name, std::move(text)});
}

void Helpers::Define(Helper helper, CType type, const std::string& name) {
  if (Has(name)) return;
  if (helper == Helper::kOddFloat && type == CType::kLong) {
    Define(helper, CType::kUlong, NameOf(helper, CType::kUlong));
  }
  const std::string second = TakesTwo(helper) ? absl::StrCat(", ", Name(type), " b") : "";
  Add(name, fmt::format("static {} {}({} a{}) {{\n{}}}\n", Name(ResultOf(helper, type)), name,
                        Name(type), second, BodyOf(helper, type)));
}

CText Helpers::Call(Helper helper, const std::vector<CText>& arguments, CType type) {
  const std::string name = NameOf(helper, type);
  Define(helper, type, name);
  return opencl::Call(name, arguments, ResultOf(helper, type));
}

CText Helpers::FloatToInt(const CText& value, CType to) {
  const std::string name = fmt::format("hone_{}_of_{}", Name(to), Name(value.type));
  Add(name, fmt::format("static {0} {1}({2} a) {{\n  return a != a ? 0 : convert_{0}_sat(a);\n}}\n",
                        Name(to), name, Name(value.type)));
  return opencl::Call(name, {value}, to);
}

}  // namespace hone::codegen::opencl
