#include "compiler/passes/fuse_ops.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/ir/node_map.h"
#include "compiler/machine/machine.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/call_type.h"
#include "compiler/ops/repeat.h"
#include "compiler/ops/typing.h"
#include "compiler/passes/attention_groups.h"
#include "compiler/passes/fusion_groups.h"
#include "compiler/passes/join_groups.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ops::FuseKind;

constexpr int kMaxNodes = 256;
// OpenCL promises a kernel 1,024 bytes of arguments, and the time to compile one grows with the
// square of the tensors that it reads.
constexpr int kMaxInputs = 120;
// The tensors that one concatenation joins; more are joined in steps.
constexpr size_t kMostParts = 64;

bool IsOpCall(const Expr& e) { return e->kind == ExprKind::kCall && !e->callee; }

// What a kernel reads: the tensors of tuple arguments one by one.
void AppendTensors(const Expr& arg, std::vector<Expr>* tensors) {
  if (arg->kind != ExprKind::kTuple) {
    tensors->push_back(arg);
    return;
  }
  for (const Expr& field : arg->args) AppendTensors(field, tensors);
}

std::vector<Expr> Inputs(const Expr& node) {
  std::vector<Expr> inputs;
  if (IsOpCall(node)) {
    for (const Expr& arg : node->args) AppendTensors(arg, &inputs);
  } else if (node->kind != ExprKind::kFunction) {
    inputs = node->args;
  }
  if (node->callee) inputs.push_back(node->callee);
  return inputs;
}

// ---- before: every tuple argument in sight, every output a kernel's own ----

Expr SpellOutTuple(const Expr& arg) {
  if (!arg->type->is_tuple || arg->kind == ExprKind::kTuple) return arg;
  std::vector<Expr> fields;
  for (size_t i = 0; i < arg->type->fields.size(); ++i) {
    const Expr field =
        ir::WithType(ir::TupleGetItem(arg, static_cast<int64_t>(i)), arg->type->fields[i]);
    fields.push_back(SpellOutTuple(field));
  }
  return ir::WithType(ir::Tuple(std::move(fields)), *arg->type);
}

// Joins runs of parts each by itself, and then their results, until few are left.
Expr JoinBySteps(const Expr& concatenate) {
  std::vector<Expr> parts = concatenate->args[0]->args;
  const auto joined = [&](std::vector<Expr> run) {
    return MakeTyped("concatenate", {ops::TypedTuple(std::move(run))}, concatenate->attrs);
  };
  while (parts.size() > kMostParts) {
    std::vector<Expr> runs;
    for (size_t i = 0; i < parts.size(); i += kMostParts) {
      const auto begin = parts.begin() + static_cast<ptrdiff_t>(i);
      const size_t count = std::min(kMostParts, parts.size() - i);
      runs.push_back(count == 1 ? *begin : joined({begin, begin + static_cast<ptrdiff_t>(count)}));
    }
    parts = std::move(runs);
  }
  return joined(std::move(parts));
}

Expr SplitJoins(const Expr& body) {
  return ir::RewriteOutside(body, [](const Expr& node) -> Expr {
    const bool has_many =
        ir::IsCall(node, "concatenate") && node->args[0]->args.size() > kMostParts;
    return has_many ? JoinBySteps(node) : node;
  });
}

Expr SpellOutTuples(const Expr& body) {
  return ir::RewriteOutside(body, [](const Expr& node) -> Expr {
    if (!IsOpCall(node)) return node;
    std::vector<Expr> args;
    for (const Expr& arg : node->args) args.push_back(SpellOutTuple(arg));
    return ir::WithOperands(node, nullptr, std::move(args));
  });
}

class OutputCopies {
 public:
  // The same for the results of a function that is repeated, with so many states: what is stacked
  // may be a next state, too.
  Expr ApplyToBody(const Expr& results, size_t states) {
    std::vector<Expr> fields;
    ir::NodeSet stacked;
    for (size_t i = 0; i < results->args.size(); ++i) {
      const Expr& result = results->args[i];
      const bool shared =
          i >= states && states_.contains(result.get()) && stacked.insert(result.get()).second;
      fields.push_back(shared ? result : Apply(result));
      // A state that is a copy is not where the result itself is.
      if (i < states && fields.back() == result) states_.insert(result.get());
    }
    return ir::WithOperands(results, nullptr, std::move(fields));
  }

  Expr Apply(const Expr& output) {
    if (output->kind == ExprKind::kTuple) {
      std::vector<Expr> fields;
      for (const Expr& field : output->args) fields.push_back(Apply(field));
      return ir::WithOperands(output, nullptr, std::move(fields));
    }
    const bool of_repeat =
        output->kind == ExprKind::kTupleGetItem && ops::IsRepeat(*output->args[0]);
    const bool own = output->kind != ExprKind::kVar && output->kind != ExprKind::kConstant &&
                     !of_repeat && seen_.insert(output.get()).second;
    if (own || output->type->is_tuple) return output;
    return ir::WithType(ir::Call("copy", {output}), *output->type);
  }

 private:
  ir::NodeSet seen_;
  ir::NodeSet states_;
};

// ---- the fusion graph ----

struct Flow {
  std::vector<Expr> nodes;
  ir::NodeMap<int> number;
  std::vector<FlowNode> graph;
  std::vector<FuseKind> kinds;
};

// Inputs before users, as PostOrder, but along Inputs().
std::vector<Expr> FlowOrder(const Expr& root) {
  struct Frame {
    Expr node;
    std::vector<Expr> inputs;
    size_t next = 0;
  };
  std::vector<Expr> order;
  ir::NodeSet seen{root.get()};
  std::vector<Frame> stack;
  stack.push_back({root, Inputs(root)});
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next == frame.inputs.size()) {
      order.push_back(frame.node);
      stack.pop_back();
      continue;
    }
    const Expr input = frame.inputs[frame.next++];
    if (seen.insert(input.get()).second) stack.push_back({input, Inputs(input)});
  }
  return order;
}

FuseKind KindOf(const Expr& node) {
  if (!IsOpCall(node) || node->type->is_tuple) return FuseKind::kOpaque;
  const ops::Op* op = ops::FindOp(node->name);
  return op == nullptr ? FuseKind::kOpaque : op->kind;
}

// A broadcasting operator reads an operand of its result's shape element by element.
FuseKind EdgeKind(const Expr& from, const Expr& user, FuseKind kind) {
  const bool same_shape = !from->type->is_tuple && !user->type->is_tuple &&
                          from->type->tensor.shape == user->type->tensor.shape;
  return kind == FuseKind::kBroadcast && same_shape ? FuseKind::kElemwise : kind;
}

Flow MakeFlow(const Expr& body) {
  Flow flow;
  flow.nodes = FlowOrder(body);
  flow.graph.resize(flow.nodes.size());
  for (size_t i = 0; i < flow.nodes.size(); ++i) {
    const Expr& node = flow.nodes[i];
    flow.number[node.get()] = static_cast<int>(i);
    flow.kinds.push_back(KindOf(node));
    for (const Expr& input : Inputs(node)) {
      if (input->kind == ExprKind::kGlobalVar || input->kind == ExprKind::kFunction) continue;
      flow.graph[flow.number.at(input.get())].edges.push_back(
          {static_cast<int>(i), EdgeKind(input, node, flow.kinds.back())});
    }
  }
  flow.graph.back().escapes = true;
  return flow;
}

// ---- the kernels ----

bool IsCommutative(const ir::ExprNode& call) {
  return call.name == "add" || call.name == "multiply" || call.name == "maximum" ||
         call.name == "minimum";
}

// Makes the function of one group, operator by operator.
class KernelBuilder {
 public:
  // `outside` maps a value from outside the group to what stands for it in main; `attrs` are those
  // of every kernel.
  KernelBuilder(const ir::NodeMap<Expr>& outside, const ir::Attrs& attrs)
      : outside_(outside), attrs_(attrs) {}

  void Add(const Expr& call) {
    std::vector<Expr> args = call->args;
    if (IsCommutative(*call) && !inside_.contains(args[0].get()) &&
        inside_.contains(args[1].get())) {
      std::swap(args[0], args[1]);  // what the kernel has computed first: one text for one workload
    }
    for (Expr& arg : args) arg = Operand(arg);
    Expr inside = ir::WithOperands(call, nullptr, std::move(args));
    if (ir::IsCall(inside, "cast")) inside = FirstAlike(inside);
    inside_[call.get()] = std::move(inside);
  }

  Expr Finish(const Expr& last) {
    Expr function = ir::Function(std::move(params_), inside_.at(last.get()), attrs_);
    function = ir::WithType(function, *last->type);
    return ir::WithType(ir::CallFunction(std::move(function), std::move(args_)), *last->type);
  }

 private:
  // CanonicalizeCast gives every reader a cast of its own; readers in one kernel share it again.
  Expr FirstAlike(const Expr& cast) {
    return casts_.try_emplace({cast->args[0].get(), cast->type->tensor.dtype}, cast).first->second;
  }

  Expr Operand(const Expr& arg) {
    if (arg->kind == ExprKind::kTuple) {
      std::vector<Expr> fields;
      for (const Expr& field : arg->args) fields.push_back(Operand(field));
      return ir::WithOperands(arg, nullptr, std::move(fields));
    }
    if (arg->kind == ExprKind::kConstant && arg->type->tensor.shape.empty()) return arg;
    Expr& inside = inside_[arg.get()];
    if (!inside) {
      inside = ir::Var("p" + std::to_string(params_.size()), *arg->type);
      params_.push_back(inside);
      args_.push_back(outside_.at(arg.get()));
    }
    return inside;
  }

  const ir::NodeMap<Expr>& outside_;
  const ir::Attrs& attrs_;
  ir::NodeMap<Expr> inside_;
  std::map<std::pair<const ir::ExprNode*, DataType>, Expr> casts_;
  std::vector<Expr> params_;
  std::vector<Expr> args_;
};

// A node that is no operator call.
Expr Rebuilt(const Expr& node, const ir::NodeMap<Expr>& done) {
  if (node->kind == ExprKind::kFunction) return node;
  return ir::WithOperandsOf(node, done);
}

// What a function says of the rounding of its results holds for its kernels.
ir::Attrs KernelAttrs(const Expr& function) {
  ir::Attrs attrs = {{"primitive", true}};
  const auto numerics = function->attrs.find("numerics");
  if (numerics != function->attrs.end()) attrs.insert(*numerics);
  return attrs;
}

Expr BuildKernels(const Flow& flow, const std::vector<int>& groups, const ir::Attrs& attrs) {
  std::unordered_map<int, std::vector<int>> members;
  for (size_t i = 0; i < groups.size(); ++i) members[groups[i]].push_back(static_cast<int>(i));
  ir::NodeMap<Expr> done;
  for (size_t i = 0; i < flow.nodes.size(); ++i) {
    const Expr& node = flow.nodes[i];
    if (!IsOpCall(node)) {
      done[node.get()] = Rebuilt(node, done);
      continue;
    }
    const std::vector<int>& group = members.at(groups[i]);
    if (group.back() != static_cast<int>(i)) continue;
    KernelBuilder kernel(done, attrs);
    for (int member : group) kernel.Add(flow.nodes[member]);
    done[node.get()] = kernel.Finish(node);
  }
  return done.at(flow.nodes.back().get());
}

// Attribute "axis" is one axis or a list; its default is the last one.
bool AxesAreLast(const ir::ExprNode& call) {
  const auto rank = static_cast<int64_t>(call.type->tensor.shape.size());
  std::vector<int64_t> axes = ops::IntsAttr(call.attrs, "axis", {-1});
  for (int64_t& axis : axes) axis = ops::AxisFromFront(axis, call.type->tensor.shape.size());
  std::sort(axes.begin(), axes.end());
  const auto count = static_cast<int64_t>(axes.size());
  for (int64_t i = 0; i < count; ++i) {
    if (axes[static_cast<size_t>(i)] != rank - count + i) return false;
  }
  return count < rank;
}

// Products of stacks read their operands through moves of elements. A row of a softmax or a
// normalisation is computed where it is needed.
Prologue PrologueOf(const Expr& node) {
  if (!IsOpCall(node) || node->type->is_tuple) return Prologue::kNone;
  const DataType dtype = node->type->tensor.dtype;
  if (node->name == "nn.batch_matmul") {  // of bfloat16 and bytes, operands are packed by pairs
    const bool is_wide = SizeBytes(dtype) >= 4 && node->args[0]->type->tensor.dtype == dtype;
    return is_wide ? Prologue::kMoves : Prologue::kNone;
  }
  if (dtype != DataType::kFloat32) return Prologue::kNone;
  const bool by_rows = (node->name == "nn.softmax" || node->name == "nn.log_softmax" ||
                        node->name == "nn.layer_norm") &&
                       AxesAreLast(*node);
  return by_rows ? Prologue::kAny : Prologue::kNone;
}

// A normalisation along the last axes takes an epilogue as a convolution does: what follows is
// computed while a row is there.
FuseKind KindInGroup(const Expr& node, FuseKind kind) {
  const bool by_rows = PrologueOf(node) == Prologue::kAny && ir::IsCall(node, "nn.layer_norm");
  return by_rows ? FuseKind::kComplex : kind;
}

std::vector<int> GroupsOf(const Flow& flow, const machine::Machine& machine) {
  std::vector<FuseKind> kinds;
  std::vector<Prologue> prologues;
  std::vector<bool> moves;
  for (size_t i = 0; i < flow.nodes.size(); ++i) {
    kinds.push_back(KindInGroup(flow.nodes[i], flow.kinds[i]));
    prologues.push_back(PrologueOf(flow.nodes[i]));
    moves.push_back(flow.kinds[i] <= FuseKind::kInjective && MovesOrChooses(flow.nodes[i]));
  }
  std::vector<int> groups =
      FusionGroups(flow.graph, kinds, {.nodes = kMaxNodes, .inputs = kMaxInputs}, prologues, moves);
  // On a grid, each of the three steps has a strategy of its own only as a kernel of its own.
  if (!machine.HasGrid()) JoinAttention(flow.nodes, flow.graph, kMaxNodes, &groups);
  PartJoins(flow.nodes, machine.vector.FloatLanes(), &groups);
  return groups;
}

// `states` of a function that is repeated, else nullopt.
Expr FuseFunction(const Expr& function, bool is_main, std::optional<size_t> states,
                  const machine::Machine& machine) {
  Expr body = SplitJoins(SpellOutTuples(ir::Body(*function)));
  if (is_main) body = OutputCopies().Apply(body);
  if (states) body = OutputCopies().ApplyToBody(body, *states);
  const Flow flow = MakeFlow(body);
  std::vector<Expr> args = ir::Params(*function);
  args.push_back(BuildKernels(flow, GroupsOf(flow, machine), KernelAttrs(function)));
  return ir::WithOperands(function, nullptr, std::move(args));
}

// By the names of the functions that main repeats, in the form that PackRepeats gives them.
std::map<std::string, size_t> StatesOfRepeats(const ir::Module& module) {
  std::map<std::string, size_t> states;
  const auto main = module.functions.find("main");
  if (main == module.functions.end()) return states;
  for (const Expr& node : ir::PostOrderOutside(main->second)) {
    if (!ops::IsRepeat(*node)) continue;
    const ops::Repeat repeat = ops::RepeatOf(*node);
    if (repeat.rows) states[node->callee->name] = static_cast<size_t>(repeat.states);
  }
  return states;
}

}  // namespace

absl::StatusOr<ir::Module> FuseOps(const ir::Module& module, const PassContext& context) {
  ir::Module fused;
  const std::map<std::string, size_t> states = StatesOfRepeats(module);
  const machine::Machine machine = machine::Machine::For(context.target);
  for (const auto& [name, function] : module.functions) {
    const auto found = states.find(name);
    fused.functions[name] = FuseFunction(
        function, name == "main",
        found == states.end() ? std::nullopt : std::optional<size_t>(found->second), machine);
  }
  return fused;
}

}  // namespace hone::passes
