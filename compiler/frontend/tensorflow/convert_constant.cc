// Const, Fill, and the nodes that give an operand on as it is.
#include "compiler/frontend/tensor_size.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

Results Const(NodeReader& node) {
  const Attr* const attr = node.Raw("value");
  if (attr == nullptr) return absl::InvalidArgumentError("attribute value is missing");
  if (const auto* const unread = std::get_if<UnreadAttr>(attr)) {
    return absl::UnimplementedError(unread->why);
  }
  if (const auto* const tensor = std::get_if<ir::Expr>(attr)) return One(*tensor);
  return absl::InvalidArgumentError("attribute value was expected to be a tensor");
}

Results Identity(NodeReader& node) {
  node.Raw("message");  // of CheckNumerics
  node.Raw("shape");    // of PlaceholderWithDefault, whose default is taken
  HONE_ASSIGN_OR_RETURN(Value value, node.Arg(0, "input"));
  return std::vector<Value>{std::move(value)};
}

Results Fill(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Shape shape, node.Ints(0, "dims"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr value, node.Given(1, "value"));
  HONE_RETURN_IF_ERROR(TensorBytes(shape, DtypeOf(value)).status());
  return One(Emit("broadcast_to", {value}, {{"shape", shape}}));
}

}  // namespace

void AddConstantConverters(ConverterTable& table) {
  table["Const"] = Const;
  table["Fill"] = Fill;
  for (const char* name : {"Identity", "StopGradient", "PreventGradient", "Snapshot",
                           "CheckNumerics", "PlaceholderWithDefault"}) {
    table[name] = Identity;
  }
  table["IdentityN"] = [](NodeReader& node) -> Results { return node.args(); };
}

}  // namespace hone::frontend::tf
