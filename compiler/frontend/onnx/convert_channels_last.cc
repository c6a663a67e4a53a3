// QLinearConv and NhwcMaxPool of the domain com.microsoft: what onnxruntime's optimiser makes of
// quantised convolutions and the pools between them.
#include "compiler/frontend/onnx/channels_last.h"
#include "compiler/frontend/onnx/convert_as.h"
#include "compiler/frontend/onnx/converters.h"
#include "support/status.h"

namespace hone::frontend {

ir::Expr ChannelsToFront(Formula& f, const ir::Expr& x) {
  if (!x || RankOf(x) < 3) return x;
  Shape axes = {0, RankOf(x) - 1};
  for (int64_t i = 1; i + 1 < RankOf(x); ++i) axes.push_back(i);
  return f.Transpose(x, axes);
}

ir::Expr ChannelsToBack(Formula& f, const ir::Expr& x) {
  if (!x || RankOf(x) < 3) return x;
  Shape axes = {0};
  for (int64_t i = 2; i < RankOf(x); ++i) axes.push_back(i);
  axes.push_back(1);
  return f.Transpose(x, axes);
}

namespace {

// The newest opset that the operators used here have kept their meaning in.
constexpr int kChannelsLastOpset = 12;

Results WithChannelsLast(NodeReader& node, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr x, node.Arg(0, "x"));
  Formula f;
  std::vector<ir::Expr> args = node.args();
  args[0] = ChannelsToFront(f, x);
  HONE_RETURN_IF_ERROR(f.status());
  HONE_ASSIGN_OR_RETURN(const ir::Expr y, ConvertAs(node, op, kChannelsLastOpset, std::move(args),
                                                    {"channels_last"}));
  return f.Finish({ChannelsToBack(f, y)});
}

Results QLinearConvOfAnyLayout(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const int64_t channels_last, node.Int("channels_last", 0));
  if (channels_last != 0) return WithChannelsLast(node, "QLinearConv");
  return One(ConvertAs(node, "QLinearConv", kChannelsLastOpset, node.args(), {"channels_last"}));
}

}  // namespace

void AddChannelsLastConverters(ConverterTable& table) {
  table["com.microsoft.NhwcMaxPool"] = [](NodeReader& node) {
    return WithChannelsLast(node, "MaxPool");
  };
  table["com.microsoft.QLinearConv"] = QLinearConvOfAnyLayout;
}

}  // namespace hone::frontend
