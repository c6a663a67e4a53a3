// A module as something to look at: functions and kernels as boxes in boxes, operators as nodes.
// Renderers (dot.h, tree.h) know nothing of graph IR.
#ifndef HONE_COMPILER_PICTURE_PICTURE_H_
#define HONE_COMPILER_PICTURE_PICTURE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::picture {

enum class NodeKind { kParameter, kConstant, kOperator, kCall, kTuple, kIf, kVariable, kResult };

struct Node {
  NodeKind kind = NodeKind::kOperator;
  std::string title;               // "nn.conv2d", "%data"
  std::vector<std::string> lines;  // attributes, constants, type
};

struct Box {
  enum class Kind { kFunction, kKernel };
  Kind kind = Kind::kFunction;
  std::string title;            // "@main", "conv2d_add_relu"
  std::string tier;             // of a kernel whose config is known; else empty
  std::optional<double> share;  // of the model's time, 0 to 1
  std::vector<int> nodes;       // in execution order
  std::vector<std::unique_ptr<Box>> boxes;
  // What stands where, in execution order: a node (first) or a box (second), the other is -1.
  std::vector<std::pair<int, int>> order;
};

struct Edge {
  int from = 0;  // a node
  int to = 0;
  std::string label;          // "else", ".1"; mostly empty
  const Box* into = nullptr;  // not null: the edge goes to this box (a function that is called)
};

struct Picture {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  Box root;  // its boxes are the functions; title, nodes empty
};

// What is known of a kernel beside its graph.
struct KernelNote {
  std::string tier;
  std::optional<double> share;
};
// `function` is the primitive function of `call`.
using KernelNotes = std::function<std::optional<KernelNote>(const ir::Expr& call)>;

// `module` is typed. Constants stand in the nodes that read them; kernels get their notes where
// `notes` is not null.
Picture MakePicture(const ir::Module& module, const KernelNotes& notes = nullptr);

}  // namespace hone::picture

#endif  // HONE_COMPILER_PICTURE_PICTURE_H_
