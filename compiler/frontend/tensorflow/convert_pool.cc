// MaxPool, AvgPool. An average leaves out what is padding.
#include "compiler/frontend/tensorflow/converters.h"
#include "compiler/frontend/tensorflow/image.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

Results Pool(NodeReader& node, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(const Image image, ReadImage(node));
  HONE_ASSIGN_OR_RETURN(const Shape taps, image.SpatialOf(node, "ksize", {}));
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, image, taps));
  attrs["pool_size"] = taps;
  return One(Emit(op, {image.data}, std::move(attrs)), image.channels_last);
}

}  // namespace

void AddPoolConverters(ConverterTable& table) {
  table["MaxPool"] = [](NodeReader& node) { return Pool(node, "nn.max_pool2d"); };
  table["AvgPool"] = [](NodeReader& node) { return Pool(node, "nn.avg_pool2d"); };
}

}  // namespace hone::frontend::tf
