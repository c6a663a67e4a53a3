// Elementwise and pooling arithmetic on quantised bytes, with quantised results.
#ifndef HONE_COMPILER_PASSES_QUANTIZED_ARITHMETIC_H_
#define HONE_COMPILER_PASSES_QUANTIZED_ARITHMETIC_H_

#include <cstdint>

#include "compiler/ir/expr.h"

namespace hone::passes {

// A tensor of integers that represent (data - zero_point) * scale. Scale and zero point are one
// number, or a vector along `axis`.
struct Quantized {
  ir::Expr data;
  ir::Expr scale;
  ir::Expr zero_point;
  int64_t axis = 0;

  bool IsPerTensor() const;
};

// x + y, x * y and the mean of x over axes 2 and up (which stay, of extent 1), quantised by the
// scale and the zero point of `to`, whose data is not looked at. The formulas are those of
// docs/quantised.md, "Arithmetic". All must have the same type of bytes, and one scale and zero
// point per tensor; otherwise the result is null.
ir::Expr QuantizedSum(const Quantized& x, const Quantized& y, const Quantized& to);
ir::Expr QuantizedProduct(const Quantized& x, const Quantized& y, const Quantized& to);
ir::Expr QuantizedMean(const Quantized& x, const Quantized& to);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_QUANTIZED_ARITHMETIC_H_
