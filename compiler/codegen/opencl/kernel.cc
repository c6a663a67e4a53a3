#include "compiler/codegen/opencl/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/codegen/opencl/conversion.h"
#include "compiler/codegen/opencl/lines.h"
#include "compiler/codegen/opencl/names.h"
#include "compiler/codegen/opencl/statement.h"
#include "compiler/loop/launch_access.h"
#include "compiler/loop/visit.h"

namespace hone::codegen::opencl {
namespace {

// The parameters, for the buffers that the launch uses, and the lines that make pointers of them.
struct Parameters {
  std::vector<std::string> declarations;
  std::vector<std::string> pointers;
};

Parameters BindArguments(std::span<const loop::Buffer> buffers, const loop::Stmt& body,
                         KernelScope& scope, Kernel* kernel) {
  const loop::LaunchAccess used = loop::AccessOf(body);
  Parameters parameters;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const loop::BufferNode& buffer = *buffers[i];
    if (!used.read.contains(&buffer) && !used.written.contains(&buffer)) continue;
    Storage storage{.name = scope.names.Fresh(buffer.name),
                    .place = Storage::Place::kGlobal,
                    .elements = buffer.layout.ElementCount(buffer.shape)};
    const std::string base = scope.names.Fresh(storage.name + "_base");
    const std::string offset = scope.names.Fresh(storage.name + "_offset");
    const char* const qualifier = used.written.contains(&buffer) ? "" : "const ";
    parameters.declarations.push_back(
        fmt::format("__global {}uchar* {}, ulong {}", qualifier, base, offset));
    const std::string type = fmt::format("__global {}{}*", qualifier, MemoryNameOf(buffer.dtype));
    parameters.pointers.push_back(
        fmt::format("{0} restrict {1} = ({0})({2} + {3});", type, storage.name, base, offset));
    scope.storage.insert_or_assign(&buffer, std::move(storage));
    kernel->arguments.push_back(static_cast<int>(i));
  }
  return parameters;
}

// The arrays of a work group, which OpenCL C declares in a kernel's outermost block; returns their
// bytes.
int64_t WriteGroupArrays(const loop::Stmt& body, KernelScope& scope, Lines& lines) {
  int64_t bytes = 0;
  loop::Walk(body, [&](const loop::Stmt& s) {
    if (s->kind != loop::StmtKind::kAlloc || s->buffer->scope != loop::Scope::kShared) return true;
    const loop::BufferNode& buffer = *s->buffer;
    const CType type = PrivateTypeOf(buffer.dtype);
    const Storage storage{.name = scope.names.Fresh(buffer.name),
                          .place = Storage::Place::kArray,
                          .elements = buffer.layout.ElementCount(buffer.shape)};
    lines.Add(fmt::format("__local {} {}[{}];", Name(type), storage.name, storage.elements));
    scope.storage.insert_or_assign(&buffer, storage);
    bytes += storage.elements * BitsOf(type) / 8;
    return true;
  });
  return bytes;
}

// Declares the number of the work item in its group.
void WriteThread(const lower::GridLoop& thread, KernelScope& scope, Lines& lines) {
  const CText number{.code = scope.names.Fresh(thread.var->name), .type = CType::kInt};
  lines.Add(fmt::format("const int {} = (int)get_local_id(0);", number.code));
  scope.variables.insert_or_assign(thread.var.get(), number);
}

// Declares the grid's variables, and the thread's; returns what is known of them.
loop::Bounds WriteGrid(const lower::LoweredLaunch& launch, KernelScope& scope, Lines& lines) {
  const int64_t count = launch.GridIndices();
  const bool is_int = count < std::numeric_limits<int32_t>::max();
  const char* const type = is_int ? "int" : "long";
  const std::string item = scope.names.Fresh("item");
  lines.Add(fmt::format("const {0} {1} = ({0})get_{2}_id(0);", type, item,
                        launch.thread ? "group" : "global"));
  if (launch.thread) {
    WriteThread(*launch.thread, scope, lines);
  } else {
    lines.Add(fmt::format("if ({} >= {}) return;", item, count));
  }
  loop::Bounds bounds;
  std::vector<std::string> declarations;
  int64_t inner = 1;  // indices of the loops further in
  for (size_t i = launch.grid.size(); i-- > 0;) {
    const lower::GridLoop& loop = launch.grid[i];
    const int64_t extent = std::max<int64_t>(loop.extent, 1);
    std::string value = inner == 1 ? item : fmt::format("{} / {}", item, inner);
    if (i > 0 && inner * extent < count) value = absl::StrCat(value, " % ", extent);
    inner *= extent;
    const bool fits = FitsInt({loop.min, loop.min + extent});
    if (extent == 1) {
      const CType literal = fits ? CType::kInt : CType::kLong;
      scope.variables.insert_or_assign(loop.var.get(), IntLiteral(loop.min, literal));
      continue;
    }
    if (loop.min != 0) value = absl::StrCat(value, " + ", loop.min);
    CText variable{.code = scope.names.Fresh(loop.var->name),
                   .type = fits ? CType::kInt : CType::kLong};
    declarations.push_back(
        fmt::format("const {} {} = {};", Name(variable.type), variable.code, value));
    scope.variables.insert_or_assign(loop.var.get(), std::move(variable));
  }
  std::for_each(declarations.rbegin(), declarations.rend(),
                [&](const std::string& line) { lines.Add(line); });
  for (const lower::GridLoop& loop : launch.grid) {
    bounds.Push(loop.var, {loop.min, loop.min + std::max<int64_t>(loop.extent, 1) - 1});
  }
  if (launch.thread) bounds.Push(launch.thread->var, {0, launch.thread->extent - 1});
  return bounds;
}

bool UsesDouble(const Kernel& kernel, std::span<const loop::Buffer> buffers,
                const loop::Stmt& body) {
  bool uses = std::ranges::any_of(kernel.arguments, [&](int i) {
    return buffers[static_cast<size_t>(i)]->dtype == DataType::kFloat64;
  });
  loop::Walk(
      body,
      [&](const loop::Stmt& s) {
        uses = uses || (s->buffer != nullptr && s->buffer->dtype == DataType::kFloat64);
        return true;
      },
      [&](const loop::Expr& e) { uses = uses || e->dtype == DataType::kFloat64; });
  return uses;
}

}  // namespace

absl::StatusOr<Kernel> EmitKernel(const lower::LoweredLaunch& launch, const std::string& symbol,
                                  std::span<const loop::Buffer> buffers) {
  Kernel kernel;
  kernel.entry = IdentifierOf(symbol);
  kernel.group_items = launch.thread ? launch.thread->extent : 0;
  kernel.work_items = launch.GridIndices() * std::max<int64_t>(kernel.group_items, 1);
  KernelScope scope;
  scope.names.Fresh(kernel.entry);
  const Parameters parameters = BindArguments(buffers, launch.body, scope, &kernel);
  Lines lines;
  const std::string head = fmt::format("__kernel void {}(", kernel.entry);
  const std::string separator = ",\n" + std::string(head.size(), ' ');
  lines.Open(absl::StrCat(head, absl::StrJoin(parameters.declarations, separator), ")"));
  for (const std::string& line : parameters.pointers) lines.Add(line);
  kernel.local_bytes = WriteGroupArrays(launch.body, scope, lines);
  loop::Bounds bounds = WriteGrid(launch, scope, lines);
  StatementWriter(scope, lines, std::move(bounds)).Write(launch.body);
  lines.Close();
  if (!scope.status.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("launch {}: {}", launch.name, std::string(scope.status.message())));
  }
  kernel.text = lines.text();
  kernel.helpers = scope.helpers.functions();
  kernel.needs_fp64 = UsesDouble(kernel, buffers, launch.body);
  return kernel;
}

std::string ProgramText(std::span<const Kernel> kernels, const KernelOptions& options) {
  std::string text =
      absl::StrCat("#pragma OPENCL FP_CONTRACT ", options.contract ? "ON" : "OFF", "\n");
  if (std::ranges::any_of(kernels, &Kernel::needs_fp64)) {
    text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  }
  absl::flat_hash_set<std::string> defined;
  for (const Kernel& kernel : kernels) {
    for (const HelperFunction& helper : kernel.helpers) {
      if (defined.insert(helper.name).second) absl::StrAppend(&text, "\n", helper.text);
    }
  }
  for (const Kernel& kernel : kernels) absl::StrAppend(&text, "\n", kernel.text);
  return text;
}

std::string ToText(const BuildOptions& options) {
  std::string text = "-cl-std=CL1.2";
  if (options.rounds_division) text += " -cl-fp32-correctly-rounded-divide-sqrt";
  if (options.flush_subnormals) text += " -cl-denorms-are-zero";
  return text;
}

}  // namespace hone::codegen::opencl
