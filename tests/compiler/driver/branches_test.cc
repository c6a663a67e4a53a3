// Branches of a model for GPUs share no memory that would put them in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ir/parser.h"
#include "compiler/passes/infer_type.h"
#include "runtime/launch_dependencies.h"
#include "runtime/module_abi.h"
#include "tests/compiler/driver/compiled.h"

namespace hone::driver {
namespace {

// Three branches of four calls each, which the last ones join.
ir::Module ThreeBranches() {
  std::string text =
      "def @main(%x: Tensor[(64, 64), float32], %y: Tensor[(64, 64), float32], "
      "%z: Tensor[(64, 64), float32]) {\n";
  int values = 0;
  for (std::string last : {"%x", "%y", "%z"}) {
    for (int i = 0; i < 4; ++i) {
      const std::string next = "%" + std::to_string(values++);
      text += "  " + next + " = nn.softmax(" + last + ", axis=1);\n";
      last = next;
    }
  }
  const auto module = ir::ParseModule(
      text + "  %12 = add(%3, %7);\n  %13 = add(%12, %11);\n  nn.softmax(%13)\n}\n");
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto typed = passes::InferTypes(*module);
  EXPECT_TRUE(typed.ok()) << typed.status();
  return typed.ok() ? *typed : ir::Module();
}

struct Paths {
  size_t calls = 0;
  int longest = 0;
};

// As if each call were one launch, on memory that begins at an address for each of its spaces.
Paths PathsOf(const hone_module& module) {
  const hone_function& main = module.functions[0];
  AccessHistory history;
  std::vector<int> lengths;
  for (uint32_t c = 0; c < main.call_count; ++c) {
    const hone_call& call = main.calls[c];
    const hone_kernel& kernel = module.kernels[call.kernel];
    std::vector<MemoryAccess> accesses;
    for (uint32_t b = 0; b < kernel.buffer_count; ++b) {
      const hone_location& at = call.locations[b];
      const uintptr_t begin =
          (uintptr_t{at.space} << 50) + (uintptr_t{at.index} << 40) + at.offset_bytes;
      const bool writes = kernel.buffers[b].role == HONE_ROLE_OUTPUT ||
                          kernel.buffers[b].role == HONE_ROLE_WORKSPACE;
      accesses.push_back({begin, begin + kernel.buffers[b].size_bytes, writes});
    }
    int length = 0;
    for (const size_t before : history.Add(accesses)) length = std::max(length, lengths[before]);
    lengths.push_back(length + 1);
  }
  return {lengths.size(), *std::ranges::max_element(lengths)};
}

TEST(Branches, WaitForEachOtherOnlyWhereTheModelSaysSo) {
  const absl::StatusOr<Compiled> compiled = Compiled::Make(
      ThreeBranches(), {.target = *Target::Parse("cuda -arch=sm_80"), .require_tuned = false});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const Paths paths = PathsOf(compiled->table());
  ASSERT_GE(paths.calls, 3 * 4);
  EXPECT_EQ(paths.longest, 4 + static_cast<int>(paths.calls) - 3 * 4);
}

}  // namespace
}  // namespace hone::driver
