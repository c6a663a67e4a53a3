#include "compiler/ops/lower.h"

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <string>
#include <unordered_map>

#include "compiler/loop/scalar.h"
#include "compiler/ops/call_type.h"
#include "compiler/ops/round_once.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

// The tensors a node of the graph stands for: one, or those of a tuple in order.
using Buffers = std::vector<loop::Buffer>;

// Walks a fused function in execution order and lets each operator add its stages.
class Lowering {
 public:
  explicit Lowering(const std::vector<bool>& const_params)
      : builder_("kernel"), const_params_(const_params) {}

  absl::StatusOr<KernelDefinition> Run(const ir::Expr& function) {
    const auto numerics = ir::GetAttr<std::string>(function->attrs, "numerics", "default");
    const std::optional<Numerics> known = ParseNumerics(numerics);
    if (!known) {
      return absl::InvalidArgumentError(
          fmt::format("expected numerics strict, default or fast, found '{}'", numerics));
    }
    definition_.numerics = *known;
    HONE_RETURN_IF_ERROR(AddParams(ir::Params(*function)));
    for (const ir::Expr& node : ir::PostOrder(ir::Body(*function))) {
      HONE_RETURN_IF_ERROR(Visit(node));
    }
    definition_.naive = builder_.Finish(buffers_.at(ir::Body(*function).get()));
    definition_.naive.name = KernelName();
    if (definition_.numerics != Numerics::kStrict) {
      definition_.naive = RoundOnce(definition_.naive, CastResults());
    }
    return std::move(definition_);
  }

 private:
  absl::Status AddParams(const std::vector<ir::Expr>& params) {
    if (params.size() != const_params_.size()) {
      return absl::InvalidArgumentError(fmt::format(
          "a kernel of {} parameters was expected, found {}", const_params_.size(), params.size()));
    }
    for (size_t i = 0; i < params.size(); ++i) {
      const ir::Type& type = *params[i]->type;
      const std::string name = fmt::format("p{}", i);
      if (!type.IsTensor()) {
        return absl::InvalidArgumentError(
            fmt::format("a kernel's parameter {} was expected to be a tensor, found {}", name,
                        type.ToString()));
      }
      buffers_[params[i].get()] = {
          const_params_[i] ? builder_.AddConstant(name, type.tensor.dtype, type.tensor.shape)
                           : builder_.AddInput(name, type.tensor.dtype, type.tensor.shape)};
    }
    return absl::OkStatus();
  }

  // A cast that the model has is there to round.
  std::set<std::string> CastResults() const {
    std::set<std::string> names;
    for (const OpStage& stage : definition_.ops) {
      if (stage.op == "cast") names.insert(stage.results.begin(), stage.results.end());
    }
    return names;
  }

  // "fused_conv2d_bias_add_relu", for people.
  std::string KernelName() const {
    constexpr size_t kLongest = 80;
    std::string name = "fused";
    for (const OpStage& stage : definition_.ops) {
      if (name.size() < kLongest) name += "_" + stage.op.substr(stage.op.find('.') + 1);
    }
    return name;
  }

  absl::Status Visit(const ir::Expr& node) {
    switch (node->kind) {
      case ir::ExprKind::kVar:
        if (buffers_.contains(node.get())) return absl::OkStatus();
        return absl::InvalidArgumentError(
            fmt::format("a kernel uses {}, which is none of its parameters", node->name));
      case ir::ExprKind::kConstant:
        return VisitConstant(*node);
      case ir::ExprKind::kTuple:
        buffers_[node.get()];
        for (const ir::Expr& field : node->args) Append(buffers_.at(field.get()), node.get());
        return absl::OkStatus();
      case ir::ExprKind::kTupleGetItem:
        buffers_[node.get()] = {buffers_.at(node->args[0].get()).at(node->index)};
        return absl::OkStatus();
      case ir::ExprKind::kCall:
        if (!node->callee) return VisitCall(*node);
        [[fallthrough]];
      default:
        return absl::InvalidArgumentError(
            "a kernel was expected to consist of operator calls, found another kind of expression");
    }
  }

  absl::Status VisitConstant(const ir::ExprNode& node) {
    const ir::TensorType& type = node.type->tensor;
    if (type.ElementCount() != 1) {
      return absl::InvalidArgumentError(fmt::format(
          "a constant within a kernel was expected to be one number, found {}; larger ones are "
          "parameters",
          type.ToString()));
    }
    HONE_ASSIGN_OR_RETURN(const loop::Expr value, ScalarOf(node));
    buffers_[&node] = {
        builder_.Compute("constant", type.dtype, type.shape, [&](const auto&) { return value; })};
    return absl::OkStatus();
  }

  static absl::StatusOr<loop::Expr> ScalarOf(const ir::ExprNode& node) {
    const auto read = [&]<typename T>(T value) {
      std::memcpy(&value, node.data.bytes(), sizeof value);
      return value;
    };
    const DataType dtype = node.type->tensor.dtype;
    switch (dtype) {
      case DataType::kFloat32:
        return loop::FloatConst(read(float{}), dtype);
      case DataType::kFloat64:
        return loop::FloatConst(read(double{}), dtype);
      case DataType::kInt8:
        return loop::IntConst(read(int8_t{}), dtype);
      case DataType::kInt16:
        return loop::IntConst(read(int16_t{}), dtype);
      case DataType::kInt32:
        return loop::IntConst(read(int32_t{}), dtype);
      case DataType::kInt64:
        return loop::IntConst(read(int64_t{}), dtype);
      case DataType::kUInt8:
        return loop::IntConst(read(uint8_t{}), dtype);
      case DataType::kUInt16:
        return loop::IntConst(read(uint16_t{}), dtype);
      case DataType::kUInt32:
        return loop::IntConst(read(uint32_t{}), dtype);
      case DataType::kUInt64:
        return loop::IntConst(static_cast<int64_t>(read(uint64_t{})), dtype);
      case DataType::kBool:
        return loop::BoolConst(read(uint8_t{}) != 0);
      case DataType::kFloat16:
        return loop::FloatConst(loop::DecodeFloat16(read(uint16_t{})), dtype);
      case DataType::kBFloat16:
        return loop::FloatConst(loop::DecodeBFloat16(read(uint16_t{})), dtype);
    }
    return absl::InternalError("a constant of no type");
  }

  absl::Status VisitCall(const ir::ExprNode& call) {
    const Op* op = FindOp(call.name);
    if (op == nullptr || !op->define) {
      return absl::UnimplementedError(
          fmt::format("the operator {} has no compute definition", call.name));
    }
    std::vector<ir::Type> types;
    Buffers args;
    for (const ir::Expr& arg : call.args) {
      types.push_back(*arg->type);
      const Buffers& of_arg = buffers_.at(arg.get());
      args.insert(args.end(), of_arg.begin(), of_arg.end());
    }
    // Types may come from a text or from a pass: the definitions rely on them, so check once more.
    HONE_ASSIGN_OR_RETURN(const ir::Type type, InferCallType(call.name, types, call.attrs));
    if (!(type == *call.type)) {
      return absl::InvalidArgumentError(fmt::format("{}: the call is said to give {}, it gives {}",
                                                    call.name, call.type->ToString(),
                                                    type.ToString()));
    }
    ir::Attrs attrs = call.attrs;
    // What a definition may do to values that are not finite depends on it.
    if (definition_.numerics == Numerics::kStrict) attrs[kStrictAttr] = int64_t{1};
    buffers_[&call] = op->define(builder_, args, attrs, type);
    Record(*op, call, types, args);
    return absl::OkStatus();
  }

  void Record(const Op& op, const ir::ExprNode& call, const std::vector<ir::Type>& types,
              const Buffers& args) {
    OpStage stage;
    stage.op = op.name;
    stage.kind = op.kind;
    stage.attrs = call.attrs;
    for (const loop::Buffer& arg : args) stage.args.push_back(arg->name);
    for (const loop::Buffer& buffer : buffers_.at(&call)) stage.results.push_back(buffer->name);
    definition_.ops.push_back(std::move(stage));
    definition_.flops += op.flops ? op.flops(types, call.attrs, *call.type) : OnePerElement(call);
  }

  static double OnePerElement(const ir::ExprNode& call) {
    if (!call.type->is_tuple) return static_cast<double>(call.type->tensor.ElementCount());
    double count = 0;
    for (const ir::Type& field : call.type->fields) {
      count += static_cast<double>(field.tensor.ElementCount());
    }
    return count;
  }

  void Append(const Buffers& buffers, const ir::ExprNode* node) {
    Buffers& all = buffers_[node];
    all.insert(all.end(), buffers.begin(), buffers.end());
  }

  loop::NestBuilder builder_;
  const std::vector<bool>& const_params_;
  std::unordered_map<const ir::ExprNode*, Buffers> buffers_;
  KernelDefinition definition_;
};

}  // namespace

absl::StatusOr<KernelDefinition> Define(const ir::Expr& function,
                                        const std::vector<bool>& const_params) {
  return Lowering(const_params).Run(function);
}

std::string_view Name(Numerics numerics) {
  switch (numerics) {
    case Numerics::kStrict:
      return "strict";
    case Numerics::kDefault:
      return "default";
    case Numerics::kFast:
      break;
  }
  return "fast";
}

std::optional<Numerics> ParseNumerics(std::string_view text) {
  for (const Numerics numerics : {Numerics::kStrict, Numerics::kDefault, Numerics::kFast}) {
    if (Name(numerics) == text) return numerics;
  }
  return std::nullopt;
}

ir::Workload WorkloadOf(const ir::Expr& function, const std::vector<bool>& const_params) {
  return ir::MakeWorkload(function, const_params, [](const std::string& name) {
    const Op* op = FindOp(name);
    return op == nullptr || op->kind < FuseKind::kReduction ? 0 : static_cast<int>(op->kind);
  });
}

absl::StatusOr<KernelDefinition> Lower(const ir::Expr& function,
                                       const std::vector<bool>& const_params) {
  HONE_ASSIGN_OR_RETURN(KernelDefinition definition, Define(function, const_params));
  definition.workload = WorkloadOf(function, const_params);
  return definition;
}

absl::StatusOr<KernelDefinition> LowerWorkload(std::string_view workload_text) {
  HONE_ASSIGN_OR_RETURN(const ir::ParsedWorkload parsed, ir::ParseWorkload(workload_text));
  HONE_ASSIGN_OR_RETURN(const ir::Expr function, InferFunctionTypes(parsed.function));
  return Lower(function, parsed.const_params);
}

absl::StatusOr<ir::LayoutSignature> ParseSignature(const KernelDefinition& kernel,
                                                   std::string_view text) {
  std::vector<int> operands;
  std::vector<int> results;
  for (const loop::Buffer& buffer : kernel.naive.buffers) {
    const int rank = static_cast<int>(buffer->shape.size());
    if (buffer->role == loop::Role::kInput) operands.push_back(rank);
    if (buffer->role == loop::Role::kOutput) results.push_back(rank);
  }
  return ir::LayoutSignature::Parse(text, operands, results);
}

}  // namespace hone::ops
