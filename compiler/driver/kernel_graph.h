// A model as calls of kernels on values: what is left of the graph after the passes.
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
  // It lies in another value's memory, which nothing else writes there; -1: in its own.
  int within = -1;
  uint64_t offset_bytes = 0;
  // In a repeat: how it moves there from trip to trip, and which value's place in the trip before
  // it has from trip 1 on (passes/memory_plan.h).
  int64_t stride_bytes = 0;
  bool alternates = false;
  int follows = -1;
};

// A kernel to be compiled once, however often it is called.
struct Kernel {
  std::string name;  // for people: the operators, "conv2d_add_relu", made unique
  std::shared_ptr<const ops::KernelDefinition> def;
  ir::LayoutSignature signature;
  int64_t calls = 0;                      // of all specialisations, in every trip of repeats
  std::vector<int> specialisations = {};  // that call it, ascending
};

struct KernelCall {
  int kernel = 0;
  std::vector<int> args;     // values, in the order of the fused function's parameters
  std::vector<int> results;  // values
  int repeat = -1;           // of the specialisation; -1: it is made once
};

// Calls that stand together and are made `trips` times.
struct Repeat {
  int64_t trips = 1;
};

// Main for certain shapes of its inputs.
struct Specialisation {
  std::vector<Value> values;
  std::vector<KernelCall> calls;  // in execution order
  std::vector<Repeat> repeats;
  std::vector<int> inputs;   // values
  std::vector<int> outputs;  // values
  std::string skeleton;      // passes/skeleton.h
  // Signatures of the kernels in execution order, before copies between layouts came in.
  std::vector<std::string> layouts;
};

struct KernelGraph {
  std::vector<Kernel> kernels;  // of all specialisations
  std::vector<Specialisation> specialisations;
};

// Takes main of modules that went through the passes (every call is of a primitive function with a
// `signature`). Identical kernels (same workload and signature) become one, in whichever
// specialisations they stand; equal constants of several specialisations share their bytes.
class KernelGraphBuilder {
 public:
  KernelGraphBuilder();
  ~KernelGraphBuilder();
  // kInvalidArgument where `module` differs from those before in more than the shapes of its
  // inputs, or does not differ in these, and where two of its inputs or outputs share a name.
  absl::Status Add(const ir::Module& module);
  KernelGraph Take();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The graph where there is one specialisation.
absl::StatusOr<KernelGraph> BuildKernelGraph(const ir::Module& module);

}  // namespace hone::driver

#endif  // HONE_COMPILER_DRIVER_KERNEL_GRAPH_H_
