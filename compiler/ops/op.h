// Operators: what each one's type is, how it may be fused, and what it computes. One file an
// operator family; docs/adding-an-operator.md walks through one.
#ifndef HONE_COMPILER_OPS_OP_H_
#define HONE_COMPILER_OPS_OP_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"
#include "compiler/loop/builder.h"

namespace hone::ops {

// What `define` finds among the attributes where the function says numerics="strict": nothing may
// be multiplied by a zero that stands for what does not exist.
inline constexpr char kStrictAttr[] = "strict";

// Ordered: what may follow what in one kernel (docs/architecture.md, 4; FuseOps).
enum class FuseKind {
  kElemwise = 0,
  kBroadcast = 1,
  kInjective = 2,
  kReduction = 3,
  kComplex = 4,
  kTuple = 7,
  kOpaque = 8
};

// What an attribute may hold. A float also takes an integer, a list of integers also one integer.
enum class AttrKind { kInt, kFloat, kBool, kString, kDataType, kInts };
struct AttrSpec {
  std::string name;
  AttrKind kind = AttrKind::kInt;
  bool required = false;
};

struct Op {
  std::string name;  // "nn.conv2d"
  int min_args = 1;
  int max_args = 1;  // -1: any number
  FuseKind kind = FuseKind::kOpaque;

  // Every attribute the operator knows; InferCallType refuses others, and wrong kinds.
  std::vector<AttrSpec> attrs;

  // kInvalidArgument says what was expected of which operand, and what was found. Called with a
  // right number of arguments and attributes of the right kinds.
  std::function<absl::StatusOr<ir::Type>(const std::vector<ir::Type>& args, const ir::Attrs& attrs)>
      infer_type;

  // Adds the stages that compute the result(s) from `args` to the naive nest. `args` have the
  // inferred types; a tuple argument is flattened. One buffer a tensor of the result. Accumulates
  // in the accumulator type (float32 for float16 and bfloat16, int32 for int8). The definition of
  // the operator's meaning.
  std::function<std::vector<loop::Buffer>(loop::NestBuilder& builder,
                                          const std::vector<loop::Buffer>& args,
                                          const ir::Attrs& attrs, const ir::Type& result)>
      define;

  // Floating-point operations of a call, padding taps included; null: one an output element.
  std::function<double(const std::vector<ir::Type>& args, const ir::Attrs& attrs,
                       const ir::Type& result)>
      flops;
};

// nullptr where no operator has the name. The table is built once and never changes; thread-safe.
const Op* FindOp(std::string_view name);
// Sorted.
std::vector<std::string> OpNames();

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_OP_H_
