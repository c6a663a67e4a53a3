// Scalar expressions of the loop-nest IR. Immutable and shared; an Expr is a cheap handle.
//
// Vectors do not appear here: vectorising is an annotation on a loop until code generation, so
// features and digests are taken from the compact scalar form.
#ifndef HONE_COMPILER_LOOP_EXPR_H_
#define HONE_COMPILER_LOOP_EXPR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/data_type.h"
#include "runtime/layout.h"

namespace hone::loop {

enum class ExprKind { kInt, kFloat, kVar, kLoad, kUnary, kBinary, kSelect, kCast };

enum class UnaryOp {
  kNeg,
  kNot,
  kAbs,
  kSqrt,
  kRsqrt,
  kExp,
  kExpm1,  // e^x - 1, also where e^x is next to 1
  kLog,
  kLog1p,  // log(1 + x), also where 1 + x is next to 1
  kTanh,
  kErf,
  kSigmoid,
  kFloor,
  kCeil,
  kRound,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kIsNan,
  kIsInf,
  kSign
};

// kDiv is the division of floats, and of integers with truncation; kFloorDiv and kFloorMod round
// towards minus infinity and are what index arithmetic uses. kMin and kMax of floats give NaN if
// either is NaN. Comparisons and kAnd, kOr give bool; kXor, kBitAnd and kBitOr are bitwise.
enum class BinaryOp {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,
  kPow,
  kMod,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kBitAnd,
  kBitOr
};

struct ExprNode;
struct BufferNode;
using Buffer = std::shared_ptr<const BufferNode>;

class Expr {
 public:
  Expr() = default;
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  Expr(int64_t value);                                    // NOLINT: an index constant (int64)
  Expr(int value) : Expr(static_cast<int64_t>(value)) {}  // NOLINT

  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* get() const { return node_.get(); }
  explicit operator bool() const { return node_ != nullptr; }
  bool SameAs(const Expr& other) const { return node_ == other.node_; }
  // Whether there are other handles to the node. A walk over a whole expression meets a node that
  // is not shared only once.
  bool IsShared() const { return node_.use_count() > 1; }

 private:
  std::shared_ptr<const ExprNode> node_;
};

// One node type for all kinds: `kind` says which fields hold a value.
struct ExprNode {
  ExprKind kind;
  DataType dtype;

  int64_t int_value = 0;       // kInt (bool constants too)
  double float_value = 0;      // kFloat
  std::string name;            // kVar; a variable is identified by its node, the name is for people
  UnaryOp unary_op{};          // kUnary
  BinaryOp binary_op{};        // kBinary
  Buffer buffer;               // kLoad
  std::vector<Expr> operands;  // kLoad: logical indices. kUnary: 1. kBinary: 2. kSelect: condition,
                               // then, otherwise (only the chosen one is evaluated). kCast: 1

  // The UseBits of all variables and buffers in the expression, or-ed. If a bit is missing, no
  // variable or buffer with that bit occurs, and a search for one can stop here.
  uint64_t uses = 0;
};

// The bit that stands for a variable or buffer in ExprNode::uses: one of 64, by its address.
inline uint64_t UseBit(const void* variable_or_buffer) {
  const auto address = reinterpret_cast<uintptr_t>(variable_or_buffer);
  return uint64_t{1} << (address * 0x9E3779B97F4A7C15u >> 58);
}

// Where a buffer lives. Register buffers are indexed by constants once loops are unrolled, and
// become registers; those allocated around thread loops are split among the threads. A local buffer
// lives in the scratch memory of a thread. All threads that work on an index of the grid have one
// copy of a shared buffer. Tile buffers are register buffers that become tile registers if the
// target has them.
enum class Scope { kGlobal, kLocal, kRegister, kShared, kTile };

// What a global buffer is to its kernel; as enum hone_role of the module ABI. Inputs and constants
// are only read.
enum class Role { kInput, kConstant, kPrepared, kWorkspace, kOutput };

// A buffer is identified by its node. Indices are logical. An index beyond the logical extent, up
// to the padded extent of a blocked axis, is legal: those lanes exist and hold zero.
struct BufferNode {
  std::string name;
  DataType dtype = DataType::kFloat32;
  std::vector<int64_t> shape;  // logical
  Layout layout;
  Scope scope = Scope::kGlobal;
  Role role = Role::kWorkspace;  // of global buffers
  double domain_low = 0;         // as in the module ABI
  double domain_high = 0;
  bool ascending = false;  // likewise

  int64_t SizeBytes() const { return layout.SizeBytes(shape, dtype); }  // pad lanes included
};

Buffer MakeBuffer(std::string name, DataType dtype, std::vector<int64_t> shape,
                  Role role = Role::kWorkspace);  // row-major, global

Expr IntConst(int64_t value, DataType dtype = DataType::kInt64);
Expr FloatConst(double value, DataType dtype);
Expr BoolConst(bool value);
// A constant of any dtype.
Expr Const(double value, DataType dtype);
Expr Var(std::string name, DataType dtype = DataType::kInt64);
Expr Load(Buffer buffer, std::vector<Expr> indices);
// Unary and Binary fold constants and the neutral elements of integers (x + 0, x * 1, ...); both
// sides of a Binary have one dtype.
Expr Unary(UnaryOp op, Expr a);
Expr Binary(BinaryOp op, Expr a, Expr b);
Expr Select(Expr condition, Expr then, Expr otherwise);
Expr Cast(DataType dtype, Expr a);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr FloorDiv(Expr a, Expr b);
Expr FloorMod(Expr a, Expr b);
Expr Min(Expr a, Expr b);
Expr Max(Expr a, Expr b);
Expr And(Expr a, Expr b);
Expr Or(Expr a, Expr b);
Expr Lt(Expr a, Expr b);
Expr Le(Expr a, Expr b);
Expr Ge(Expr a, Expr b);
Expr Eq(Expr a, Expr b);

// Whether `e` is an integer constant; `value`, if given, then becomes it.
bool IsConstInt(const Expr& e, int64_t* value = nullptr);
// Refuses a literal 0, which would be taken for a null pointer: IsInt(e, 0) is what was meant.
bool IsConstInt(const Expr& e, int value) = delete;
// Whether `e` is the integer constant `value`.
bool IsInt(const Expr& e, int64_t value);
// Whether `e` is a constant all of whose bits are zero, which -0.0 is not.
bool IsZero(const Expr& e);
bool IsBinary(const Expr& e, BinaryOp op);
// Equal in structure; variables and buffers by identity.
bool StructuralEqual(const Expr& a, const Expr& b);

// The words of the text form: "exp", "+", "floordiv", ...
std::string_view Name(UnaryOp op);
std::string_view Name(BinaryOp op);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_EXPR_H_
