#include "compiler/codegen/opencl/names.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hone::codegen::opencl {
namespace {

// Keywords, types, words that compilers define, and the functions that emitted code calls.
const absl::flat_hash_set<std::string_view>& TakenWords() {
  static const auto* const words =
      new absl::flat_hash_set<std::string_view>{"auto",          "break",
                                                "case",          "char",
                                                "const",         "continue",
                                                "default",       "do",
                                                "double",        "else",
                                                "enum",          "extern",
                                                "float",         "for",
                                                "goto",          "if",
                                                "inline",        "int",
                                                "long",          "register",
                                                "restrict",      "return",
                                                "short",         "signed",
                                                "sizeof",        "static",
                                                "struct",        "switch",
                                                "typedef",       "union",
                                                "unsigned",      "void",
                                                "volatile",      "while",
                                                "asm",           "typeof",
                                                "bool",          "true",
                                                "false",         "uchar",
                                                "ushort",        "uint",
                                                "ulong",         "half",
                                                "quad",          "complex",
                                                "imaginary",     "size_t",
                                                "ptrdiff_t",     "intptr_t",
                                                "uintptr_t",     "event_t",
                                                "sampler_t",     "queue_t",
                                                "image1d_t",     "image2d_t",
                                                "image3d_t",     "kernel",
                                                "global",        "local",
                                                "constant",      "private",
                                                "generic",       "pipe",
                                                "read_only",     "write_only",
                                                "read_write",    "uniform",
                                                "vec_step",      "unix",
                                                "linux",         "main",
                                                "abs",           "acos",
                                                "acosh",         "as_float",
                                                "as_uint",       "as_double",
                                                "as_ulong",      "asin",
                                                "asinh",         "atan",
                                                "atanh",         "ceil",
                                                "clamp",         "clz",
                                                "cos",           "cosh",
                                                "erf",           "exp",
                                                "expm1",         "fabs",
                                                "floor",         "fma",
                                                "fmod",          "isinf",
                                                "isnan",         "ldexp",
                                                "log",           "log1p",
                                                "max",           "min",
                                                "pow",           "rint",
                                                "rsqrt",         "sign",
                                                "sin",           "sinh",
                                                "sqrt",          "tan",
                                                "tanh",          "vload_half",
                                                "vstore_half",   "vstore_half_rte",
                                                "get_global_id", "get_local_id",
                                                "get_group_id",  "barrier"};
  return *words;
}

// "float4" and the like.
bool IsVectorType(std::string_view word) {
  const size_t digits = word.find_first_of("0123456789");
  if (digits == std::string_view::npos) return false;
  static const auto* const scalars = new absl::flat_hash_set<std::string_view>{
      "char",  "uchar", "short",  "ushort", "int",  "uint", "long",
      "ulong", "float", "double", "half",   "bool", "quad"};
  return scalars->contains(word.substr(0, digits));
}

// Words in capitals may be macros.
bool IsInCapitals(std::string_view word) {
  return word.size() > 1 &&
         std::ranges::none_of(word, [](unsigned char c) { return std::islower(c) != 0; });
}

}  // namespace

std::string IdentifierOf(std::string_view word) {
  std::string identifier;
  for (const char c : word) {
    const bool is_letter = absl::StrContains("_", c) || std::isalnum(static_cast<unsigned char>(c));
    // Two of them in a row belong to the compiler.
    if (!is_letter || c == '_') {
      if (!identifier.empty() && identifier.back() == '_') continue;
      identifier += '_';
    } else {
      identifier += c;
    }
  }
  const bool begins_badly =
      identifier.empty() || identifier[0] == '_' || std::isdigit(identifier[0]) != 0;
  if (begins_badly || absl::StartsWith(identifier, "hone_")) {
    identifier = absl::StrCat("v", identifier.starts_with("_") ? "" : "_", identifier);
  }
  const bool is_taken = TakenWords().contains(identifier) || IsVectorType(identifier) ||
                        IsInCapitals(identifier) || absl::StartsWith(identifier, "convert_");
  if (is_taken && identifier.back() != '_') identifier += '_';
  return identifier;
}

std::string Names::Fresh(std::string_view word) {
  const std::string plain = IdentifierOf(word);
  std::string name = plain;
  for (int again = 2; !taken_.insert(name).second; ++again) {
    name = absl::StrCat(plain, plain.back() == '_' ? "" : "_", again);
  }
  return name;
}

}  // namespace hone::codegen::opencl
