// Operators: what each one's type is, how it may be fused, and what it computes. Each family of
// operators has its own file; docs/adding-an-operator.md walks through one.
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

// Op::define gets this attribute if the function has numerics="strict". It must then not multiply
// elements by zeros that are mere padding, since NaN or an infinity times zero is NaN.
inline constexpr char kStrictAttr[] = "strict";

// The fusion kind; the order says which operators may follow which in one kernel
// (docs/architecture.md, 4; FuseOps).
enum class FuseKind {
  kElemwise = 0,
  kBroadcast = 1,
  kInjective = 2,
  kReduction = 3,
  kComplex = 4,
  kTuple = 7,
  kOpaque = 8
};

// What an attribute may hold. An integer may stand where kFloat is expected, and a single integer
// where kInts is.
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

  // All attributes that the operator knows. InferCallType refuses others, and those that hold
  // another kind.
  std::vector<AttrSpec> attrs;

  // kInvalidArgument says which operand is wrong, what was expected and what was found. The number
  // of arguments and the kinds of attributes have been checked.
  std::function<absl::StatusOr<ir::Type>(const std::vector<ir::Type>& args, const ir::Attrs& attrs)>
      infer_type;

  // Adds the stages that compute the result(s) from `args` to the naive nest. `args` have the
  // inferred types; a tuple argument is flattened. Returns one buffer for each tensor of the
  // result. Sums are accumulated in the accumulator type (float32 for float16 and bfloat16, int32
  // for int8). This is what defines the meaning of the operator.
  std::function<std::vector<loop::Buffer>(loop::NestBuilder& builder,
                                          const std::vector<loop::Buffer>& args,
                                          const ir::Attrs& attrs, const ir::Type& result)>
      define;

  // Floating-point operations of a call, padding taps included; null: one per output element.
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
