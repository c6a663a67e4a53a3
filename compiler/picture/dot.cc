#include "compiler/picture/dot.h"

#include <fmt/format.h>
#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace hone::picture {
namespace {

struct CloseGraph {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};
struct FreeContext {
  void operator()(GVC_t* context) const { gvFreeContext(context); }
};

constexpr size_t kLineLength = 44;

// Graphviz' C interface takes char*, and copies.
char* Text(const std::string& text) { return const_cast<char*>(text.c_str()); }

void Set(void* object, const char* name, const std::string& value) {
  agsafeset(object, const_cast<char*>(name), Text(value), const_cast<char*>(""));
}

struct Look {
  const char* shape;
  const char* fill;
};

Look LookOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kParameter:
      return {"ellipse", "#d9ead3"};
    case NodeKind::kConstant:
      return {"note", "#eeeeee"};
    case NodeKind::kOperator:
      return {"box", "#ffffff"};
    case NodeKind::kCall:
      return {"component", "#fff2cc"};
    case NodeKind::kTuple:
      return {"invtrapezium", "#eeeeee"};
    case NodeKind::kIf:
      return {"diamond", "#fce5cd"};
    case NodeKind::kVariable:
      return {"ellipse", "#eeeeee"};
    case NodeKind::kResult:
      return {"ellipse", "#cfe2f3"};
  }
  return {"box", "#ffffff"};
}

// Attributes can be long: broken between them, not inside their lists.
std::string Wrapped(const std::string& line) {
  std::string text;
  size_t length = 0;
  int depth = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    text += line[i];
    ++length;
    if (line[i] == '[' || line[i] == '(') ++depth;
    if (line[i] == ']' || line[i] == ')') --depth;
    const bool may_break = depth == 0 && line[i] == ' ' && i > 0 && line[i - 1] == ',';
    if (may_break && length > kLineLength / 2) {
      text.back() = '\n';
      length = 0;
    }
  }
  return text;
}

// Backslashes are Graphviz' own escapes in labels.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// From white over yellow to red: a kernel of a tenth of the time stands out already.
std::string Heat(double share) {
  const double heat = std::min(1.0, share / 0.15);
  return fmt::format("{:.3f} {:.3f} 1.000", 0.14 * (1 - heat), 0.08 + 0.52 * heat);
}

class Drawing {
 public:
  explicit Drawing(const Picture& picture)
      : picture_(picture), graph_(agopen(const_cast<char*>("model"), Agdirected, nullptr)) {
    Set(graph_.get(), "compound", "true");  // edges may end at clusters
    Set(graph_.get(), "fontname", "DejaVu Sans");
    Set(graph_.get(), "ranksep", "0.3");
    Set(graph_.get(), "nodesep", "0.25");
    nodes_.resize(picture.nodes.size());
    for (const auto& box : picture.root.boxes) AddBox(graph_.get(), *box);
    for (const Edge& edge : picture.edges) AddEdge(edge);
  }

  absl::StatusOr<std::string> Render(ImageFormat format) {
    if (format == ImageFormat::kDot) return DotText();
    const std::unique_ptr<GVC_t, FreeContext> context(gvContext());
    if (context == nullptr) return absl::InternalError("Graphviz did not start");
    if (gvLayout(context.get(), graph_.get(), "dot") != 0) {
      return absl::InternalError("Graphviz could not lay the graph out");
    }
    char* data = nullptr;
    unsigned int size = 0;
    const int rc = gvRenderData(context.get(), graph_.get(), Name(format), &data, &size);
    std::string image = rc == 0 && data != nullptr ? std::string(data, size) : "";
    gvFreeRenderData(data);
    gvFreeLayout(context.get(), graph_.get());
    if (image.empty()) {
      return absl::InternalError(fmt::format(
          "Graphviz has no renderer for {}; its pango plugin may be missing", Name(format)));
    }
    return image;
  }

 private:
  static const char* Name(ImageFormat format) {
    switch (format) {
      case ImageFormat::kSvg:
        return "svg";
      case ImageFormat::kPdf:
        return "pdf";
      case ImageFormat::kPng:
        return "png";
      default:
        return "dot";
    }
  }

  absl::StatusOr<std::string> DotText() {
    char* data = nullptr;
    size_t size = 0;
    FILE* const file = open_memstream(&data, &size);
    if (file == nullptr) return absl::ResourceExhaustedError("no memory for the graph's text");
    agwrite(graph_.get(), file);
    std::fclose(file);
    std::string text(data, size);
    std::free(data);
    return text;
  }

  void AddBox(Agraph_t* parent, const Box& box) {
    const std::string name = fmt::format("cluster_{}", clusters_.size());
    Agraph_t* const cluster = agsubg(parent, Text(name), 1);
    clusters_[&box] = {name, box.nodes.empty() ? -1 : box.nodes[0]};
    const bool is_kernel = box.kind == Box::Kind::kKernel;
    std::string label = box.title;
    if (!box.tier.empty()) label += "\n" + box.tier;
    if (box.share)
      label += fmt::format("{}{:.1f} %", box.tier.empty() ? "\n" : ", ", 100 * *box.share);
    Set(cluster, "label", Escaped(label));
    Set(cluster, "labeljust", "l");  // beside the edge that enters from above
    Set(cluster, "fontname", "DejaVu Sans");
    Set(cluster, "fontsize", is_kernel ? "10" : "14");
    Set(cluster, "style", is_kernel ? "rounded,filled" : "rounded");
    Set(cluster, "color", is_kernel ? "#888888" : "#444444");
    if (is_kernel) Set(cluster, "fillcolor", box.share ? Heat(*box.share) : "#f4f4f4");
    for (const int node : box.nodes) AddNode(cluster, node);
    for (const auto& inner : box.boxes) AddBox(cluster, *inner);
  }

  void AddNode(Agraph_t* cluster, int id) {
    const Node& node = picture_.nodes[static_cast<size_t>(id)];
    Agnode_t* const drawn = agnode(cluster, Text(fmt::format("n{}", id)), 1);
    nodes_[static_cast<size_t>(id)] = drawn;
    std::string label = node.title;
    for (const std::string& line : node.lines) label += "\n" + Wrapped(line);
    const Look look = LookOf(node.kind);
    Set(drawn, "label", Escaped(label));
    Set(drawn, "shape", look.shape);
    Set(drawn, "style", node.kind == NodeKind::kOperator ? "rounded,filled" : "filled");
    Set(drawn, "fillcolor", look.fill);
    Set(drawn, "fontname", "DejaVu Sans");
    Set(drawn, "fontsize", "10");
    Set(drawn, "margin", "0.08,0.04");
    Set(drawn, "height", "0.3");
  }

  // An edge to a box goes to its first node and is cut off at the box's border.
  void AddEdge(const Edge& edge) {
    const int to = edge.into == nullptr ? edge.to : clusters_.at(edge.into).second;
    if (to < 0) return;
    Agedge_t* const drawn = agedge(graph_.get(), nodes_[static_cast<size_t>(edge.from)],
                                   nodes_[static_cast<size_t>(to)], nullptr, 1);
    if (!edge.label.empty()) Set(drawn, "label", Escaped(edge.label));
    Set(drawn, "fontname", "DejaVu Sans");
    Set(drawn, "fontsize", "9");
    if (edge.into == nullptr) return;
    Set(drawn, "lhead", clusters_.at(edge.into).first);
    Set(drawn, "style", "dashed");
    Set(drawn, "constraint", "false");
  }

  const Picture& picture_;
  std::unique_ptr<Agraph_t, CloseGraph> graph_;
  std::vector<Agnode_t*> nodes_;
  std::unordered_map<const Box*, std::pair<std::string, int>> clusters_;  // name, first node
};

}  // namespace

absl::StatusOr<std::string> Draw(const Picture& picture, ImageFormat format) {
  static std::mutex graphviz;
  const std::lock_guard<std::mutex> lock(graphviz);
  return Drawing(picture).Render(format);
}

}  // namespace hone::picture
