// Operators of the domain com.microsoft that are ONNX's own under another domain's name, from
// before ONNX had them.
#include "compiler/frontend/onnx/convert_as.h"
#include "compiler/frontend/onnx/converters.h"

namespace hone::frontend {
namespace {

// The node with the meaning that `opset` gives to `op`.
Converter Of(const std::string& op, int opset) {
  return [op, opset](NodeReader& node) -> Results {
    return One(ConvertAs(node, op, opset, node.args()));
  };
}

}  // namespace

void AddMicrosoftNameConverters(ConverterTable& table) {
  table["com.microsoft.GatherND"] = Of("GatherND", 12);
  table["com.microsoft.Pad"] = Of("Pad", 13);
  table["com.microsoft.Range"] = Of("Range", 11);
  table["com.microsoft.Trilu"] = Of("Trilu", 14);
}

}  // namespace hone::frontend
