#include "compiler/frontend/onnx/node_scope.h"

#include <fmt/format.h>

#include "compiler/frontend/onnx/bounded.h"
#include "compiler/frontend/onnx/control_flow.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/four_bit.h"
#include "compiler/frontend/onnx/functions.h"
#include "compiler/frontend/onnx/sequence.h"
#include "compiler/frontend/onnx/sparse_tensor.h"
#include "support/status.h"

namespace hone::frontend {

absl::Status NodeScope::Define(const std::string& name, ir::Expr value) {
  const bool is_new = !sparse_.contains(name) && values_.emplace(name, std::move(value)).second;
  if (is_new) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("it gives \"{}\", which something before it gives, too", name));
}

absl::Status NodeScope::DefineSparse(const std::string& name,
                                     std::shared_ptr<const SparseInitializer> value) {
  if (sparse_.emplace(name, std::move(value)).second) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("two sparse initializers are \"{}\"", name));
}

std::shared_ptr<const SparseInitializer> NodeScope::FindSparse(const std::string& name) const {
  for (const NodeScope* scope = this; scope != nullptr; scope = scope->around_) {
    const auto it = scope->sparse_.find(name);
    if (it != scope->sparse_.end()) return it->second;
    if (scope->values_.contains(name)) return nullptr;  // it hides what is around
  }
  return nullptr;
}

absl::Status NodeScope::Bind(const std::string& name, size_t i, NodeReader* reader) const {
  if (const auto sparse = FindSparse(name)) return reader->BindSparse(i, sparse);
  const ir::Expr* const value = Find(name);
  if (value == nullptr && IsLeftOut(name)) return absl::OkStatus();
  if (value == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("it reads \"{}\", which no input, initializer or node before it gives", name));
  }
  reader->Bind(i, *value);
  for (const Trait trait : kTraits) {
    if (Has(name, trait)) reader->SetTrait(i, trait);
  }
  return absl::OkStatus();
}

const ir::Expr* NodeScope::Find(const std::string& name) const {
  for (const NodeScope* scope = this; scope != nullptr; scope = scope->around_) {
    const auto it = scope->values_.find(name);
    if (it != scope->values_.end()) return &it->second;
  }
  return nullptr;
}

bool NodeScope::Has(const std::string& name, Trait trait) const {
  for (const NodeScope* scope = this; scope != nullptr; scope = scope->around_) {
    if (scope->values_.contains(name)) return scope->traits_.contains({name, trait});
  }
  return false;
}

bool NodeScope::IsLeftOut(const std::string& name) const {
  for (const NodeScope* scope = this; scope != nullptr; scope = scope->around_) {
    if (scope->left_out_.contains(name)) return true;
  }
  return false;
}

absl::Status NodeScope::Convert(const std::vector<OnnxNode>& nodes) {
  for (const OnnxNode& node : nodes) {
    const absl::Status status = Convert(node);
    if (status.ok()) continue;
    return Reworded(status, fmt::format("node \"{}\" ({}): {}", node.name, node.op,
                                        std::string(status.message())));
  }
  return absl::OkStatus();
}

absl::Status NodeScope::Convert(const OnnxNode& node) {
  if (node.attr_refs.empty()) return ConvertNode(node);
  HONE_ASSIGN_OR_RETURN(const OnnxNode resolved, WithAttributes(node, attrs_));
  return ConvertNode(resolved);
}

absl::StatusOr<std::vector<ir::Expr>> NodeScope::ResultsOf(NodeReader& node) const {
  if (const OnnxFunction* const function = FindFunction(*state_->functions, node.node())) {
    return CallFunction(node, *function, *this);
  }
  HONE_RETURN_IF_ERROR(CheckOperands(node));
  HONE_RETURN_IF_ERROR(CheckFourBitOperands(node));
  HONE_RETURN_IF_ERROR(CheckBoundedOperands(node));
  if (IsControlFlow(node.node().op)) return ConvertControlFlow(node, *this);
  const auto converter = Converters().find(node.node().op);
  if (converter == Converters().end()) {
    return absl::UnimplementedError("Hone does not have the operator");
  }
  return converter->second(node);
}

absl::Status NodeScope::ConvertNode(const OnnxNode& node) {
  NodeReader reader(node, opset_, std::vector<ir::Expr>(node.inputs.size()), &state_->allowance,
                    &state_->repeats);
  reader.SetPlace(place_);
  reader.AllowBounds(state_->allows_bounds);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].empty()) HONE_RETURN_IF_ERROR(Bind(node.inputs[i], i, &reader));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<ir::Expr> results, ResultsOf(reader));
  HONE_RETURN_IF_ERROR(reader.CheckAllRead());
  const bool moves_four_bit =
      FindFunction(*state_->functions, node) == nullptr && MovesFourBit(reader);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty() || i >= results.size() || !results[i]) continue;
    HONE_RETURN_IF_ERROR(Define(node.outputs[i], results[i]));
    if (moves_four_bit) SetTrait(node.outputs[i], Trait::kFourBit);
    for (const Trait trait : kTraits) {
      if (reader.Gives(i, trait)) SetTrait(node.outputs[i], trait);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ir::Expr>> NodeScope::Outputs(
    const std::vector<std::string>& names) const {
  std::vector<ir::Expr> outputs;
  for (const std::string& name : names) {
    if (const auto sparse = FindSparse(name)) {
      HONE_RETURN_IF_ERROR(state_->allowance.Take(sparse->type.SizeBytes()));
      outputs.push_back(DenseConstant(*sparse));
      continue;
    }
    const ir::Expr* const value = Find(name);
    if (value == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("the output \"{}\" is given by no node that Hone converts", name));
    }
    outputs.push_back(*value);
  }
  return outputs;
}

}  // namespace hone::frontend
