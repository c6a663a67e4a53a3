// A model as calls of kernels on values, which is what the passes leave of the graph.
#ifndef HONE_COMPILER_DRIVER_KERNEL_GRAPH_H_
#define HONE_COMPILER_DRIVER_KERNEL_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"
#include "compiler/ir/target.h"
#include "compiler/ir/workload.h"
#include "compiler/ops/lower.h"

namespace hone::driver {

// A tensor that kernels read or write.
struct Value {
  enum class Kind { kInput, kConstant, kIntermediate, kOutput };
  Kind kind = Kind::kIntermediate;
  std::string name;
  ir::TensorType type;
  Layout layout;
  ir::ConstantData data;  // of constants
  int index = 0;          // of inputs and outputs
  // The value whose memory this one lies in, at `offset_bytes`; nothing else writes there. -1 if
  // the value has memory of its own.
  int within = -1;
  uint64_t offset_bytes = 0;
  // For values of a repeat: where the value lies in further trips, as in passes::PlannedValue
  // (passes/memory_plan.h).
  int64_t stride_bytes = 0;
  bool alternates = false;
  int follows = -1;
};

// A kernel, which is compiled once however often it is called.
struct Kernel {
  std::string name;  // for people: the operators, "conv2d_add_relu", made unique
  std::shared_ptr<const ops::KernelDefinition> def;
  ir::LayoutSignature signature;
  int64_t calls = 0;  // in all specialisations; a call in a repeat counts once per trip
  std::vector<int> specialisations = {};  // those that call it, ascending
};

struct KernelCall {
  int kernel = 0;
  std::vector<int> args;     // values, in the order of the fused function's parameters
  std::vector<int> results;  // values
  int repeat = -1;           // index of the specialisation's repeat it is in; -1 if in none
};

// Consecutive calls that are made `trips` times.
struct Repeat {
  int64_t trips = 1;
};

// One specialisation of the model: main for certain shapes of its inputs.
struct Specialisation {
  std::vector<Value> values;
  std::vector<KernelCall> calls;  // in execution order
  std::vector<Repeat> repeats;
  std::vector<int> inputs;   // values
  std::vector<int> outputs;  // values
  std::string skeleton;      // passes/skeleton.h
  // The signatures of the kernels in execution order, without the kernels that copy between
  // layouts.
  std::vector<std::string> layouts;
};

struct KernelGraph {
  std::vector<Kernel> kernels;  // those of all specialisations
  std::vector<Specialisation> specialisations;
};

// Builds the graph from main of modules that went through the passes, so that every call is of a
// primitive function with a `signature`. Kernels with the same workload and signature become one,
// across specialisations too. Equal constants of several specialisations share their bytes.
class KernelGraphBuilder {
 public:
  KernelGraphBuilder();
  ~KernelGraphBuilder();
  // Adds a specialisation. kInvalidArgument if `module` differs from those before in more than the
  // shapes of its inputs, if its shapes are those of one before, or if two inputs or two outputs
  // share a name.
  absl::Status Add(const ir::Module& module);
  KernelGraph Take();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The graph of a model with one specialisation.
absl::StatusOr<KernelGraph> BuildKernelGraph(const ir::Module& module);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_KERNEL_GRAPH_H_
