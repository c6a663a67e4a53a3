#include "compiler/frontend/onnx/gelu.h"

#include <cmath>
#include <numbers>

namespace hone::frontend {
namespace {

// x (1 + inner) / 2.
ir::Expr Weighted(Formula& f, const ir::Expr& x, const ir::Expr& inner) {
  return f.Mul(x, f.Mul(f.Add(inner, f.Number(1, x)), f.Number(0.5, x)));
}

}  // namespace

ir::Expr ErfGelu(Formula& f, const ir::Expr& x) {
  return Weighted(f, x, f.Call("erf", {f.Mul(x, f.Number(std::numbers::sqrt2 / 2, x))}));
}

ir::Expr TanhGelu(Formula& f, const ir::Expr& x) {
  const ir::Expr cube = f.Mul(f.Mul(x, x), x);
  const ir::Expr sum = f.Add(x, f.Mul(cube, f.Number(0.044715, x)));
  return Weighted(f, x, f.Call("tanh", {f.Mul(sum, f.Number(std::sqrt(2 / std::numbers::pi), x))}));
}

}  // namespace hone::frontend
