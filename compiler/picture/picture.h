// A module in a form that can be drawn: functions and kernels are boxes within boxes, operators are
// nodes. Renderers (dot.h, tree.h) read this form only, and know nothing of graph IR.
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
  std::string tier;             // of the kernel's config (KernelNote); empty if not known
  std::optional<double> share;  // of the model's time that the kernel takes, 0 to 1
  std::vector<int> nodes;       // in execution order
  std::vector<std::unique_ptr<Box>> boxes;
  // The contents in execution order. Each entry is a node (first) or a box (second), by its index;
  // the other member is -1.
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
  Box root;  // its boxes are the functions; it has no title and no nodes
};

// What is known of a kernel beside its graph: the tier of its config (driver/config_source.h), and
// its share of the model's time, 0 to 1.
struct KernelNote {
  std::string tier;
  std::optional<double> share;
};
// Gives the note of the kernel that `call`, a call of a primitive function, runs; nullopt if none.
using KernelNotes = std::function<std::optional<KernelNote>(const ir::Expr& call)>;

// The picture of `module`, which is typed. Constants are lines of the nodes of operators and calls
// that read them. Kernels get their notes from `notes` unless that is null.
Picture MakePicture(const ir::Module& module, const KernelNotes& notes = nullptr);

}  // namespace hone::picture

#endif  // HONE_COMPILER_PICTURE_PICTURE_H_
