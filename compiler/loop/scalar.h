// What operators do to single values. Constant folding and the interpreter both use this.
//
// Floats are held as the double that equals them; every operation is computed in double and rounded
// once to its type (for + - * / and sqrt of float32 and narrower types that is the IEEE result).
// Integers are held as int64 and wrap around to their type, uint64 as the same 64 bits; a bool
// is 0 or 1.
#ifndef HONE_COMPILER_LOOP_SCALAR_H_
#define HONE_COMPILER_LOOP_SCALAR_H_

#include <cstdint>

#include "compiler/loop/expr.h"

namespace hone::loop {

// The nearest value of `dtype` (ties to even, overflow to infinity).
double RoundToFloat(double value, DataType dtype);
int64_t WrapToInt(int64_t value, DataType dtype);
// Towards zero; saturates at the limits of `dtype`; NaN gives 0. To bool: whether not zero.
int64_t FloatToInt(double value, DataType dtype);
// The nearest integer that the type has.
int64_t NearestInt(int64_t value, DataType dtype);
// The float of `dtype` that is nearest to an integer of type `from`, rounded once.
double IntToFloat(int64_t value, DataType from, DataType dtype);

// Conversions of the stored 16 bits; `value` is representable (RoundToFloat).
uint16_t EncodeFloat16(double value);
double DecodeFloat16(uint16_t bits);
uint16_t EncodeBFloat16(double value);
double DecodeBFloat16(uint16_t bits);

double EvalFloat(UnaryOp op, double a, DataType dtype);
// kNeg, kNot (of bool logical, of integers bitwise), kAbs, kSign; kIsNan and kIsInf give 0.
int64_t EvalInt(UnaryOp op, int64_t a, DataType dtype);
double EvalFloat(BinaryOp op, double a, double b, DataType dtype);
// `dtype` is that of the operands. A division by zero gives 0, and so does its remainder. Shifts by
// width and more give 0, or -1 for a negative value shifted right.
int64_t EvalInt(BinaryOp op, int64_t a, int64_t b, DataType dtype);
bool CompareFloat(BinaryOp op, double a, double b);
bool CompareInt(BinaryOp op, int64_t a, int64_t b, DataType dtype);

bool IsComparison(BinaryOp op);
// Comparisons, kAnd and kOr.
bool GivesBool(BinaryOp op);
bool GivesBool(UnaryOp op);

int64_t FloorDivInt(int64_t a, int64_t b);
int64_t FloorModInt(int64_t a, int64_t b);

}  // namespace hone::loop

#endif  // HONE_COMPILER_LOOP_SCALAR_H_
