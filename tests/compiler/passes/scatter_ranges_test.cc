// Which scatters become concatenations, and that nothing changes by it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "compiler/ir/printer.h"
#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

using Ints = std::vector<int64_t>;

struct Scatter {
  Ints data;
  Ints updates;
  Ints indices_shape;
  Ints indices;
  std::string op = "scatter_nd";
  std::string attrs = {};
};

ir::Module ScatterModel(const Scatter& s) {
  const std::string bytes(reinterpret_cast<const char*>(s.indices.data()),
                          s.indices.size() * sizeof(int64_t));
  return Typed(
      fmt::format("def @main(%x: Tensor[({}), float32], %u: Tensor[({}), float32]) {{ {}(%x, "
                  "meta[Constant][0], %u{}) }}\nmeta[Constant][0] = Tensor[({}), int64] \"{}\";",
                  fmt::join(s.data, ", "), fmt::join(s.updates, ", "), s.op, s.attrs,
                  fmt::join(s.indices_shape, ", "), absl::Base64Escape(bytes)));
}

const Scatter kBoxes[] = {
    {{5, 3}, {2, 3}, {2, 1}, {1, 2}},                                  // x[1:3]
    {{5, 3}, {2, 3}, {2, 1}, {-2, -1}},                                // x[-2:]
    {{5, 3}, {5, 3}, {5, 1}, {0, 1, 2, 3, 4}},                         // x[:]
    {{4, 5}, {2, 2}, {2, 2, 2}, {1, 2, 1, 3, 2, 2, 2, 3}},             // x[1:3, 2:4]
    {{4, 5}, {3}, {3, 2}, {2, 0, 2, 1, 2, 2}},                         // x[2, :3]
    {{4, 3, 2}, {4, 1, 2}, {4, 1, 2}, {0, 1, 1, 1, 2, 1, 3, 1}},       // x[:, 1:2]
    {{4, 5}, {2, 3}, {2, 3}, {1, 1, 1, 2, 2, 2}, "scatter_elements"},  // x[1:3, :3]
    {{4, 5}, {4, 2}, {4, 2}, {-2, -1, -2, -1, -2, -1, -2, -1}, "scatter_elements", ", axis=1"}};

const Scatter kOthers[] = {
    {{5, 3}, {2, 3}, {2, 1}, {1, 3}},  // a gap
    {{5, 3}, {2, 3}, {2, 1}, {2, 1}},  // backwards
    {{5, 3}, {2, 3}, {2, 1}, {4, 5}},  // clamped: both are row 4
    {{5, 3}, {2, 3}, {2, 1}, {1, 2}, "scatter_nd", ", reduction=\"add\""},
    {{4, 5}, {4}, {4, 2}, {1, 2, 2, 2, 1, 3, 2, 3}},              // not as it lies in memory
    {{4, 5}, {2, 2}, {2, 2}, {1, 2, 2, 2}, "scatter_elements"}};  // differs by the column

bool IsScatter(const ir::Module& module) {
  return ir::ToText(module).find("scatter") != std::string::npos;
}

TEST(ScatterRanges, BoxesAreJoined) {
  for (const Scatter& scatter : kBoxes) {
    const ir::Module model = ScatterModel(scatter);
    const ir::Module canonical = Canonical(model);
    EXPECT_FALSE(IsScatter(canonical)) << ir::ToText(model);
    EXPECT_EQ(InterpretOnRandom(canonical), InterpretOnRandom(model)) << ir::ToText(canonical);
  }
}

TEST(ScatterRanges, OthersStay) {
  for (const Scatter& scatter : kOthers) {
    EXPECT_TRUE(IsScatter(Canonical(ScatterModel(scatter)))) << ir::ToText(ScatterModel(scatter));
  }
}

}  // namespace
}  // namespace hone::passes
