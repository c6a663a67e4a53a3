#include "compiler/passes/fold_pads.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/ir/node_map.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/window.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Ints = std::vector<int64_t>;

bool IsOneOf(const Expr& node, const char* op) {
  return node->kind == ir::ExprKind::kCall && !node->callee && node->name.size() > 2 &&
         node->name.substr(0, node->name.size() - 2) == op;  // without "2d"
}

// What an nn.pad adds around spatial axes, and around nothing else.
struct Padding {
  Ints before;
  Ints after;
  double value = 0;
};

std::optional<Padding> PaddingOf(const Expr& pad) {
  if (!ir::IsCall(pad, "nn.pad")) return std::nullopt;
  const Ints widths = ops::IntsAttr(pad->attrs, "pad_width");
  const bool is_constant = ops::StringAttr(pad->attrs, "pad_mode", "constant") == "constant";
  if (!is_constant || widths.size() < 6) return std::nullopt;
  if (std::any_of(widths.begin(), widths.begin() + 4, [](int64_t w) { return w != 0; })) {
    return std::nullopt;
  }
  Padding padding{.before = {}, .after = {}, .value = ops::FloatAttr(pad->attrs, "pad_value", 0)};
  for (size_t i = 4; i < widths.size(); i += 2) {
    padding.before.push_back(widths[i]);
    padding.after.push_back(widths[i + 1]);
  }
  return padding;
}

// The window's, and what is added around it.
Ints Sum(const ops::Window& window, const Padding& more) {
  Ints padding;
  for (size_t i = 0; i < window.before.size(); ++i) {
    padding.push_back(window.before[i] + more.before[i]);
  }
  for (size_t i = 0; i < window.after.size(); ++i) {
    padding.push_back(window.after[i] + more.after[i]);
  }
  return padding;
}

// Whether every window, padded so, has an element of the data.
bool ReachesData(const ops::Window& window, const Ints& padding) {
  const size_t axes = window.taps.size();
  for (size_t i = 0; i < axes; ++i) {
    const int64_t most = std::max(padding[i], padding[axes + i]);
    if (window.dilation[i] != 1 || most >= window.taps[i]) return false;
  }
  return true;
}

// Whether a maximum over the pads is one without them: these are the least there is, or the least
// that the data are.
bool IsBelow(const Padding& padding, const Expr& data) {
  return padding.value == -std::numeric_limits<double>::infinity() ||
         (padding.value == 0 && ir::IsCall(data, "nn.relu"));
}

// The attributes of a reader that pads for itself; nullopt where that is not the same.
std::optional<ir::Attrs> TakenIn(const Expr& reader, const Expr& pad, const Padding& padding) {
  ir::Attrs attrs = reader->attrs;
  const bool is_conv = IsOneOf(reader, "nn.conv");
  const bool is_average = IsOneOf(reader, "nn.avg_pool");
  if (!is_conv && !is_average && !IsOneOf(reader, "nn.max_pool")) return std::nullopt;
  if (std::count(reader->args.begin(), reader->args.end(), pad) != 1 || reader->args[0] != pad) {
    return std::nullopt;
  }
  const size_t axes = padding.before.size();
  const auto window = is_conv ? ops::ReadWindow(reader->name, attrs, Ints(axes, 1))
                              : ops::ReadPoolWindow(reader->name, axes, attrs);
  if (!window.ok() || window->ceil_mode) return std::nullopt;
  const Ints sum = Sum(*window, padding);
  attrs["padding"] = sum;
  if (is_conv) {
    const auto value = static_cast<double>(ops::IntAttr(attrs, "pad_value", 0));
    if (padding.value != value) return std::nullopt;
  } else if (is_average) {
    // The pads of nn.pad count as elements.
    const bool counts = ops::BoolAttr(attrs, "count_include_pad", false);
    if (padding.value != 0 || (window->HasPadding() && !counts)) return std::nullopt;
    attrs["count_include_pad"] = true;
  } else if (!IsBelow(padding, pad->args[0]) || !ReachesData(*window, sum)) {
    return std::nullopt;
  }
  return ops::ReadWindow(reader->name, attrs, Ints(axes, 1)).ok() ? std::optional(attrs)
                                                                  : std::nullopt;
}

// The pads that none of their readers needs.
ir::NodeMap<Padding> PadsToFold(const std::vector<Expr>& order) {
  ir::NodeMap<Padding> pads;
  for (const Expr& node : order) {
    for (const Expr& arg : node->args) {
      const auto pad = pads.find(arg.get());
      if (pad != pads.end() && !TakenIn(node, arg, pad->second)) pads.erase(pad);
    }
    if (std::optional<Padding> padding = PaddingOf(node)) pads[node.get()] = *std::move(padding);
  }
  return pads;
}

}  // namespace

Expr FoldPads(const Expr& function) {
  const std::vector<Expr> order = ir::PostOrderOutside(function);
  const ir::NodeMap<Padding> pads = PadsToFold(order);
  if (pads.empty()) return function;
  ir::NodeMap<Expr> done;
  for (const Expr& node : order) {
    const bool is_inner = node->kind == ir::ExprKind::kFunction && node != function;
    Expr result = is_inner ? node : ir::WithOperandsOf(node, done);
    const auto pad = node->args.empty() ? pads.end() : pads.find(node->args[0].get());
    if (pad != pads.end() && !is_inner) {
      std::vector<Expr> args = result->args;
      args[0] = args[0]->args[0];
      result = ir::WithType(
          ir::Call(node->name, std::move(args), *TakenIn(node, node->args[0], pad->second)),
          *node->type);
    }
    done[node.get()] = std::move(result);
  }
  return done.at(function.get());
}

}  // namespace hone::passes
