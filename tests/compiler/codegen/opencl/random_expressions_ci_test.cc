// Random expressions of every type, of operators that are exact, give the same bits in OpenCL C as
// the interpreter does.
#include <fmt/format.h>

#include <cstdlib>

#include "compiler/loop/interpreter.h"
#include "support/random.h"
#include "tests/compiler/codegen/opencl/same_results.h"
#include "tests/compiler/codegen/operator_nests.h"

namespace hone::codegen {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::UnaryOp;

// Draws expressions over a row of elements of each type and the variables of two loops.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    for (const DataType dtype : kEveryType) {
      inputs_.push_back(loop::MakeBuffer(std::string("x.") + std::string(Name(dtype)), dtype,
                                         {5, 7}, loop::Role::kInput));
    }
  }

  loop::Nest Run() {
    loop::Nest nest;
    nest.name = "random";
    nest.buffers = inputs_;
    for (const DataType dtype : kEveryType) {
      const auto output =
          loop::MakeBuffer(fmt::format("y.{}", Name(dtype)), dtype, {5, 7}, loop::Role::kOutput);
      nest.buffers.push_back(output);
      const Expr i = loop::Var(fmt::format("i.{}", Name(dtype)));
      const Expr j = loop::Var(fmt::format("j.{}", Name(dtype)));
      variables_ = {i, j};
      made_.clear();
      const loop::Stmt store = loop::Store(output, {i, j}, Any(dtype, 4));
      nest.launches.push_back(
          {output->name, loop::Phase::kRun,
           loop::For(i, 0, 5, loop::For(j, 0, 7, store), loop::LoopKind::kParallel)});
    }
    return nest;
  }

 private:
  uint64_t Below(uint64_t n) { return random_.Below(n); }

  Expr Load(DataType dtype) {
    for (const loop::Buffer& buffer : inputs_) {
      if (buffer->dtype != dtype) continue;
      const Expr i = variables_[0] + static_cast<int64_t>(Below(3));
      const Expr row = Below(2) ? loop::FloorMod(i, 5) : loop::Min(i, 4);
      Expr column = variables_[1];
      // By data, and beyond the buffer unless a condition holds.
      if (Below(3) == 0) column = loop::FloorMod(Any(DataType::kInt64, 1), 7);
      if (Below(3) == 0) {
        const Expr moved = column + (static_cast<int64_t>(Below(5)) - 2);
        const Expr inside = loop::And(loop::Ge(moved, 0), loop::Lt(moved, 7));
        return loop::Select(inside, loop::Load(buffer, {row, moved}), Constant(dtype));
      }
      return loop::Load(buffer, {row, column});
    }
    return Constant(dtype);
  }

  Expr Constant(DataType dtype) {
    const double values[] = {0, 1, -1, 2, 3, 7, 8, 100, -128, 255, 0.5, -2.25, 0.1, 1e5};
    return loop::Const(values[Below(std::size(values))], dtype);
  }

  Expr Leaf(DataType dtype) {
    if (dtype == DataType::kInt64 && Below(2) == 0) return variables_[Below(2)];
    return Below(4) == 0 ? Constant(dtype) : Load(dtype);
  }

  Expr Any(DataType dtype, int depth) {
    if (depth <= 0) return Leaf(dtype);
    // What is there already, so that expressions share parts.
    if (Below(4) == 0) {
      for (const Expr& e : made_) {
        if (e->dtype == dtype && Below(2) == 0) return e;
      }
    }
    Expr e = Made(dtype, depth - 1);
    made_.push_back(e);
    return e;
  }

  Expr Made(DataType dtype, int depth) {
    if (dtype == DataType::kBool && Below(2) == 0) return Condition(depth);
    switch (Below(6)) {
      case 0:
        return Leaf(dtype);
      case 1:
        return loop::Unary(AnyUnary(dtype), Any(dtype, depth));
      case 2:
        return loop::Select(Condition(depth), Any(dtype, depth), Any(dtype, depth));
      case 3:
        return loop::Cast(dtype, Any(kEveryType[Below(std::size(kEveryType))], depth));
      default:
        return loop::Binary(AnyBinary(dtype), Any(dtype, depth), Any(dtype, depth));
    }
  }

  UnaryOp AnyUnary(DataType dtype) {
    const UnaryOp floats[] = {UnaryOp::kNeg,  UnaryOp::kAbs,   UnaryOp::kFloor, UnaryOp::kCeil,
                              UnaryOp::kSign, UnaryOp::kRound, UnaryOp::kSqrt,  UnaryOp::kNot};
    const UnaryOp ints[] = {UnaryOp::kNeg, UnaryOp::kAbs, UnaryOp::kNot, UnaryOp::kSign};
    return IsFloat(dtype) ? floats[Below(8)] : ints[Below(4)];
  }

  BinaryOp AnyBinary(DataType dtype) {
    const BinaryOp all[] = {BinaryOp::kAdd,      BinaryOp::kSub,       BinaryOp::kMul,
                            BinaryOp::kMin,      BinaryOp::kMax,       BinaryOp::kDiv,
                            BinaryOp::kFloorDiv, BinaryOp::kFloorMod,  BinaryOp::kMod,
                            BinaryOp::kXor,      BinaryOp::kBitAnd,    BinaryOp::kBitOr,
                            BinaryOp::kPow,      BinaryOp::kShiftLeft, BinaryOp::kShiftRight};
    if (IsFloat(dtype)) return all[Below(9)];
    // The other back-end has no more of bool.
    return dtype == DataType::kBool ? all[9 + Below(3)] : all[Below(15)];
  }

  Expr Condition(int depth) {
    if (Below(4) == 0) {
      return loop::Binary(Below(2) ? BinaryOp::kAnd : BinaryOp::kOr,
                          Any(DataType::kBool, depth - 1), Any(DataType::kBool, depth - 1));
    }
    const DataType dtype = kEveryType[Below(std::size(kEveryType))];
    const auto op = static_cast<BinaryOp>(static_cast<int>(BinaryOp::kEq) + Below(6));
    return loop::Binary(op, Any(dtype, depth - 1), Any(dtype, depth - 1));
  }

  Random random_;
  std::vector<loop::Buffer> inputs_;
  std::vector<Expr> variables_;
  std::vector<Expr> made_;
};

TEST(OpenClRandomExpressions, GiveTheBitsOfTheInterpreter) {
  HONE_SKIP_WITHOUT_OPENCL();
  constexpr uint64_t kNests = 8;
  const char* const given = std::getenv("HONE_RANDOM_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  for (uint64_t i = 0; i < kNests && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("HONE_RANDOM_SEED={}", seed + i));
    ExpectOpenClSameAsInterpreter(Generator(seed + i).Run(), 0, {.contract = false});
  }
}

}  // namespace
}  // namespace hone::codegen
