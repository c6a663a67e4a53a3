#include "compiler/picture/tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::picture {
namespace {

class Tree {
 public:
  explicit Tree(const Picture& picture) : picture_(picture), operands_(picture.nodes.size()) {
    for (const Edge& edge : picture.edges) {
      if (edge.into != nullptr) continue;
      std::string text = Number(edge.from);
      if (edge.label.starts_with('.')) {
        text += edge.label;
      } else if (!edge.label.empty()) {
        text = edge.label + " " + text;
      }
      operands_[static_cast<size_t>(edge.to)].push_back(std::move(text));
    }
  }

  std::string Print() {
    for (const auto& function : picture_.root.boxes) {
      text_ += Title(*function) + "\n";
      Inside(*function, "");
    }
    return std::move(text_);
  }

 private:
  // Parameters and variables have names of their own.
  std::string Number(int node) const {
    const Node& value = picture_.nodes[static_cast<size_t>(node)];
    const bool named = value.kind == NodeKind::kParameter || value.kind == NodeKind::kVariable;
    return named ? value.title : fmt::format("%{}", node);
  }

  static std::string Title(const Box& box) {
    std::string text = box.title;
    if (!box.tier.empty()) text += fmt::format(" [{}]", box.tier);
    if (box.share) text += fmt::format(" {:.1f} % of the time", 100 * *box.share);
    return text;
  }

  std::string Line(int id) const {
    const Node& node = picture_.nodes[static_cast<size_t>(id)];
    const std::vector<std::string>& operands = operands_[static_cast<size_t>(id)];
    std::string text = Number(id);
    if (text != node.title) text += " " + node.title;
    if (!operands.empty()) text += fmt::format("({})", fmt::join(operands, ", "));
    for (const std::string& line : node.lines) text += "  " + line;
    return text;
  }

  void Inside(const Box& box, const std::string& margin) {
    for (size_t i = 0; i < box.order.size(); ++i) {
      const bool last = i + 1 == box.order.size();
      const auto [node, inner] = box.order[i];
      const std::string branch = margin + (last ? "└─ " : "├─ ");
      if (node >= 0) {
        text_ += branch + Line(node) + "\n";
        continue;
      }
      const Box& child = *box.boxes[static_cast<size_t>(inner)];
      text_ += branch + Title(child) + "\n";
      Inside(child, margin + (last ? "   " : "│  "));
    }
  }

  const Picture& picture_;
  std::vector<std::vector<std::string>> operands_;
  std::string text_;
};

}  // namespace

std::string ToTree(const Picture& picture) { return Tree(picture).Print(); }

}  // namespace hone::picture
