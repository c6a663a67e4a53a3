// Recognises stores that accumulate: sums, and the sums of products that hardware computes at once.
#ifndef HONE_COMPILER_LOOP_ACCUMULATION_H_
#define HONE_COMPILER_LOOP_ACCUMULATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::loop {

// Whether the kStore has the form c[i] = c[i] op value, for a binary operator.
bool Accumulates(const StmtNode& store);

// The neutral element of `op`: the value e, to be given to Const, with x op e == x for every x of
// the type. nullopt if `op` has none.
std::optional<double> NeutralOf(BinaryOp op, DataType dtype);

// The number of neighbouring factors that one step of a dot-product instruction multiplies and adds
// to a 32-bit sum: 4 for bytes (summed in int32), 2 for bfloat16 (in float32), 1 for other types.
int64_t DotSteps(DataType factor);

// A factor of a sum of products in which four or two neighbouring steps make one dot product.
struct DotFactor {
  Expr load;  // of bytes or of bfloat16; or of an int32 that has all four bytes
  // If `load` is an int32, the factor of the first step is (load >> shift) & mask, and each further
  // step shifts by 8 more. `shift` is null if `load` is of bytes or bfloat16.
  Expr shift;
  int64_t mask = 0;
};

// The factors a and b of c[i] = c[i] + wide(a) * wide(b), if no index of c depends on `var`; empty
// if the statement has another form. `wide` is the conversion to the type of c, for factors that
// are loads of bytes or bfloat16.
std::vector<DotFactor> DotFactorsOf(const Stmt& s, const Expr& var);
// The loads of the two factors that DotFactorsOf finds, if both load bytes or bfloat16; else empty.
std::vector<Expr> SummedDotFactors(const Stmt& s, const Expr& var);

// The loads a and b of c[i] = c[i] + cast<float32>(a) * cast<float32>(b), if both are float16; else
// empty. Only tile operations multiply two steps at once; back-ends have no vector instruction that
// does.
std::vector<Expr> SummedFloat16Factors(const Stmt& s);
inline constexpr int64_t kFloat16Steps = 2;

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_ACCUMULATION_H_
