#include "compiler/passes/layout_copy.h"

#include <utility>

namespace hone::passes {

ir::Expr WithSignature(const ir::Expr& function, const ir::LayoutSignature& signature) {
  ir::Attrs attrs = function->attrs;
  attrs["signature"] = signature.ToString();
  return ir::WithType(ir::Function(ir::Params(*function), ir::Body(*function), std::move(attrs)),
                      *ir::Body(*function)->type);
}

ir::Expr CopyKernel(const ir::Type& type, const Layout& from, const Layout& to) {
  const ir::Expr param = ir::Var("p0", type);
  const ir::Attrs attrs = {{"src_layout", from.ToString()}, {"dst_layout", to.ToString()}};
  const ir::Expr body = ir::WithType(ir::Call("layout_transform", {param}, attrs), type);
  const ir::Expr function = ir::WithType(ir::Function({param}, body, {{"primitive", true}}), type);
  return WithSignature(function, {{from}, {to}});
}

}  // namespace hone::passes
