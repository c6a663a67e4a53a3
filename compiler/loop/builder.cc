#include "compiler/loop/builder.h"

#include <algorithm>
#include <cassert>

#include "absl/container/flat_hash_set.h"
#include "compiler/loop/visit.h"

namespace hone::loop {
namespace {

// Variables named stage.PREFIX0, stage.PREFIX1, ...
std::vector<Expr> MakeVars(const std::string& stage, char prefix, size_t count) {
  std::vector<Expr> vars;
  vars.reserve(count);
  for (size_t i = 0; i < count; ++i) vars.push_back(Var(stage + "." + prefix + std::to_string(i)));
  return vars;
}

Stmt LoopNest(const std::vector<Expr>& vars, const std::vector<Expr>& extents, Stmt body) {
  for (size_t i = vars.size(); i-- > 0;) body = For(vars[i], 0, extents[i], std::move(body));
  return body;
}

std::vector<Expr> Constants(const std::vector<int64_t>& values) {
  return std::vector<Expr>(values.begin(), values.end());
}

BinaryOp OpOf(NestBuilder::Combiner combiner) {
  switch (combiner) {
    case NestBuilder::Combiner::kAdd:
      return BinaryOp::kAdd;
    case NestBuilder::Combiner::kMul:
      return BinaryOp::kMul;
    case NestBuilder::Combiner::kMin:
      return BinaryOp::kMin;
    case NestBuilder::Combiner::kMax:
      return BinaryOp::kMax;
  }
  return BinaryOp::kAdd;
}

bool IsParameter(const Buffer& buffer) {
  return buffer->role == Role::kInput || buffer->role == Role::kConstant;
}

// `name`, or `name` with the first suffix that makes it none of `taken`, which it joins.
std::string MakeUnique(const std::string& name, absl::flat_hash_set<std::string>& taken) {
  std::string unique = name;
  for (int i = 1; !taken.insert(unique).second; ++i) unique = name + "." + std::to_string(i);
  return unique;
}

// New nodes for buffers that become outputs, or whose name is taken (stages written by hand).
BufferMap FinalBuffers(const Nest& nest, const std::vector<Buffer>& outputs) {
  BufferMap map;
  absl::flat_hash_set<std::string> taken;
  for (const Buffer& buffer : nest.buffers) {
    const bool output = std::find(outputs.begin(), outputs.end(), buffer) != outputs.end();
    std::string name = MakeUnique(buffer->name, taken);
    if (!output && name == buffer->name) continue;
    auto copy = std::make_shared<BufferNode>(*buffer);
    copy->name = std::move(name);
    if (output) copy->role = Role::kOutput;
    map[buffer.get()] = std::move(copy);
  }
  return map;
}

// Loop variables of stages written by hand may clash.
void MakeLoopNamesUnique(Nest& nest) {
  absl::flat_hash_set<std::string> taken;
  VarMap renamed;
  for (Launch& launch : nest.launches) {
    for (const Stmt& loop : CollectLoops(launch.body)) {
      const std::string name = MakeUnique(loop->var->name, taken);
      if (name != loop->var->name) renamed[loop->var.get()] = Var(name, loop->var->dtype);
    }
  }
  if (renamed.empty()) return;
  for (Launch& launch : nest.launches) launch.body = Substitute(launch.body, renamed);
}

}  // namespace

NestBuilder::NestBuilder(std::string name) { nest_.name = std::move(name); }

std::string NestBuilder::Unique(const std::string& name) {
  std::string unique = name;
  for (int i = 1; std::find(names_.begin(), names_.end(), unique) != names_.end(); ++i) {
    unique = name + "." + std::to_string(i);
  }
  names_.push_back(unique);
  return unique;
}

Buffer NestBuilder::AddInput(std::string name, DataType dtype, std::vector<int64_t> shape) {
  nest_.buffers.push_back(MakeBuffer(Unique(name), dtype, std::move(shape), Role::kInput));
  return nest_.buffers.back();
}

Buffer NestBuilder::AddConstant(std::string name, DataType dtype, std::vector<int64_t> shape) {
  nest_.buffers.push_back(MakeBuffer(Unique(name), dtype, std::move(shape), Role::kConstant));
  return nest_.buffers.back();
}

void NestBuilder::SetDomain(const Buffer& buffer, double low, double high, bool ascending) {
  if (!IsParameter(buffer)) return;
  // Ours alone until the nest is finished, and made as a node that may change.
  auto node = std::const_pointer_cast<BufferNode>(buffer);
  node->domain_low = low;
  node->domain_high = high;
  node->ascending = ascending;
}

Buffer NestBuilder::Compute(std::string name, DataType dtype, std::vector<int64_t> shape,
                            const std::function<Expr(const std::vector<Expr>& axes)>& value) {
  Buffer buffer = MakeBuffer(Unique(name), dtype, shape);
  const std::vector<Expr> axes = MakeVars(buffer->name, 'i', shape.size());
  Stmt body = Store(buffer, axes, value(axes));
  nest_.buffers.push_back(buffer);
  nest_.launches.push_back(
      {buffer->name, Phase::kRun, LoopNest(axes, Constants(shape), std::move(body))});
  return buffer;
}

Buffer NestBuilder::Reduce(
    std::string name, DataType dtype, std::vector<int64_t> shape,
    const std::function<std::vector<Expr>(const std::vector<Expr>& axes)>& extents,
    Combiner combiner, Expr init,
    const std::function<Expr(const std::vector<Expr>& axes, const std::vector<Expr>& reduce)>&
        value) {
  Buffer buffer = MakeBuffer(Unique(name), dtype, shape);
  const std::vector<Expr> axes = MakeVars(buffer->name, 'i', shape.size());
  const std::vector<Expr> bounds = extents(axes);
  const std::vector<Expr> reduce = MakeVars(buffer->name, 'r', bounds.size());
  Stmt update =
      Store(buffer, axes, Binary(OpOf(combiner), Load(buffer, axes), value(axes, reduce)));
  Stmt body =
      Seq({Store(buffer, axes, std::move(init)), LoopNest(reduce, bounds, std::move(update))});
  nest_.buffers.push_back(buffer);
  nest_.launches.push_back(
      {buffer->name, Phase::kRun, LoopNest(axes, Constants(shape), std::move(body))});
  return buffer;
}

Buffer NestBuilder::Reduce(std::string name, DataType dtype, std::vector<int64_t> shape,
                           std::vector<int64_t> extents, Combiner combiner, Expr init,
                           const std::function<Expr(const std::vector<Expr>& axes,
                                                    const std::vector<Expr>& reduce)>& value) {
  return Reduce(
      std::move(name), dtype, std::move(shape),
      [&](const std::vector<Expr>&) { return Constants(extents); }, combiner, std::move(init),
      value);
}

void NestBuilder::AddStage(Buffer buffer, Stmt body) {
  assert(buffer->role == Role::kWorkspace);
  names_.push_back(buffer->name);
  nest_.launches.push_back({buffer->name, Phase::kRun, std::move(body)});
  nest_.buffers.push_back(std::move(buffer));
}

Nest NestBuilder::Finish(std::vector<Buffer> outputs) {
  std::vector<Buffer> distinct;
  for (const Buffer& output : outputs) {
    const bool taken = std::find(distinct.begin(), distinct.end(), output) != distinct.end();
    if (!taken && !IsParameter(output)) {
      distinct.push_back(output);
      continue;
    }
    distinct.push_back(Compute(output->name + ".copy", output->dtype, output->shape,
                               [&](const std::vector<Expr>& axes) { return Load(output, axes); }));
  }
  std::vector<Buffer> order;
  for (const Buffer& buffer : nest_.buffers) {
    if (IsParameter(buffer)) order.push_back(buffer);
  }
  for (const Buffer& buffer : nest_.buffers) {
    const bool output = std::find(distinct.begin(), distinct.end(), buffer) != distinct.end();
    if (!IsParameter(buffer) && !output) order.push_back(buffer);
  }
  order.insert(order.end(), distinct.begin(), distinct.end());
  nest_.buffers = std::move(order);
  MakeLoopNamesUnique(nest_);
  return Substitute(nest_, FinalBuffers(nest_, distinct));
}

}  // namespace hone::loop
