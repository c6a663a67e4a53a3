#include "compiler/frontend/onnx/supported.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiler/frontend/name_list.h"
#include "compiler/frontend/onnx/control_flow.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/functions.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

class Survey {
 public:
  explicit Survey(const OnnxModel& model) : model_(model) {}

  absl::Status Run() {
    HONE_ASSIGN_OR_RETURN(const auto functions, FunctionsCalled(model_.functions, model_.nodes));
    HONE_RETURN_IF_ERROR(Look(model_.nodes, model_.opset));
    for (const OnnxFunction* const function : functions) {
      HONE_RETURN_IF_ERROR(Look(function->nodes, function->opset));
    }
    return Verdict();
  }

 private:
  absl::Status Look(const std::vector<OnnxNode>& nodes, int64_t opset) {
    newest_ = std::max(newest_, opset);
    for (const OnnxNode& node : nodes) {
      if (FindFunction(model_.functions, node) == nullptr) {
        HONE_RETURN_IF_ERROR(LookUp(node, opset));
      }
      for (const auto& [name, attr] : node.attrs) {
        const auto* const subgraph = std::get_if<OnnxSubgraph>(&attr);
        if (subgraph == nullptr || !subgraph->graph) continue;
        HONE_RETURN_IF_ERROR(Look(subgraph->graph->nodes, opset));
      }
    }
    return absl::OkStatus();
  }

  absl::Status LookUp(const OnnxNode& node, int64_t opset) {
    const bool is_own = node.op.find('.') == std::string::npos;
    if (is_own && opset < 1) {
      return absl::InvalidArgumentError(fmt::format(
          "node \"{}\" ({}): an opset of ONNX's own domain was expected, the model imports none",
          node.name, node.op));
    }
    if (!IsControlFlow(node.op) && !Converters().contains(node.op)) {
      missing_[node.op].push_back(fmt::format("\"{}\"", node.name));
    }
    return absl::OkStatus();
  }

  absl::Status Verdict() const {
    std::vector<std::string> faults;
    if (newest_ > kNewestOpset) {
      faults.push_back(
          fmt::format("opset 1 to {} was expected, found {}; convert the model with "
                      "onnx.version_converter",
                      kNewestOpset, newest_));
    }
    if (!missing_.empty()) {
      std::vector<std::string> lines;
      for (const auto& [op, names] : missing_) {
        lines.push_back(fmt::format("{} (nodes {})", op, ShortList(names)));
      }
      faults.push_back(fmt::format("the model uses operators that Hone does not have: {}",
                                   fmt::join(lines, "; ")));
    }
    if (faults.empty()) return absl::OkStatus();
    return absl::UnimplementedError(fmt::format("{}", fmt::join(faults, "; and ")));
  }

  const OnnxModel& model_;
  int64_t newest_ = 0;
  std::map<std::string, std::vector<std::string>> missing_;  // quoted names of nodes by operator
};

}  // namespace

absl::Status CheckSupported(const OnnxModel& model) { return Survey(model).Run(); }

}  // namespace hone::frontend
