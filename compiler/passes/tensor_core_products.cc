#include "compiler/passes/tensor_core_products.h"

#include <vector>

#include "compiler/machine/tensor_cores.h"
#include "compiler/ops/attrs.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {

bool FitsTensorCores(const ir::Expr& product, int64_t terms) {
  using machine::kWarpProduct;
  const bool is_conv = product->name.starts_with("nn.conv");
  const std::vector<int64_t>& result = ShapeOf(product);
  const int64_t rows = is_conv ? result[1] : result[result.size() - 2];
  if (is_conv) {
    const bool has_groups = ops::IntAttr(product->attrs, "groups", 1) != 1;
    if (has_groups || product->name.ends_with("_transpose")) return false;
    if (rows % kWarpProduct.rows != 0) return false;
  }
  return terms % kWarpProduct.terms == 0 && machine::CoversWell(kWarpProduct.rows, rows) &&
         machine::CoversWell(kWarpProduct.lanes, result.back());
}

}  // namespace hone::passes
