// Sums and their kin, as stores.
#ifndef HONE_COMPILER_LOOP_ACCUMULATION_H_
#define HONE_COMPILER_LOOP_ACCUMULATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/loop/stmt.h"

namespace hone::loop {

// Whether the kStore has the form c[i] = c[i] op .., for a binary op.
bool Accumulates(const StmtNode& store);

// What `op` leaves every value of the type as it is with, once it is a Const of the type; nullopt
// where there is none.
std::optional<double> NeutralOf(BinaryOp op, DataType dtype);

// Neighbours of the type that fill the 32 bits of what their products are summed in, and so steps
// of a dot product: 4 bytes (summed in int32), 2 bfloat16 (in float32). 1 of other types.
int64_t DotSteps(DataType factor);

// A factor of a sum of products, four or two neighbouring steps of which are one dot product.
struct DotFactor {
  Expr load;  // of bytes or of bfloat16; or of an int32 that has all four bytes
  // Where `load` is an int32, a factor is (load >> shift) & mask in the first step, and `shift` is
  // 8 more in each other one. It is null where `load` is of bytes or bfloat16.
  Expr shift;
  int64_t mask = 0;
};

// The factors a and b of c[i] = c[i] + wide(a) * wide(b), where no index of c depends on `var`;
// empty where the statement has another form. Where they are loads of bytes or of bfloat16, these
// are widened to the type of c.
std::vector<DotFactor> DotFactorsOf(const Stmt& s, const Expr& var);
// Their loads, where both are of bytes or of bfloat16; else empty.
std::vector<Expr> SummedDotFactors(const Stmt& s, const Expr& var);

// The loads a and b of c[i] = c[i] + cast<float32>(a) * cast<float32>(b), both of float16; else
// empty. Vectors have no dot products of these, tile operations do, two steps at a time.
std::vector<Expr> SummedFloat16Factors(const Stmt& s);
inline constexpr int64_t kFloat16Steps = 2;

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_ACCUMULATION_H_
