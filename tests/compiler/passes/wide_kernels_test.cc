// Kernels read a limited number of tensors, whatever a graph joins or sums.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "compiler/passes/pipeline.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

// 128 pointers are what OpenCL promises; some are for results.
constexpr size_t kMostArguments = 124;

// A model of so many inputs of two elements.
ir::Module ModelOf(size_t inputs, const std::string& body) {
  std::vector<std::string> params;
  for (size_t i = 0; i < inputs; ++i)
    params.push_back(fmt::format("%x{}: Tensor[(1, 2), float32]", i));
  return Typed(fmt::format("def @main({}) {{ {} }}", fmt::join(params, ", "), body));
}

void ExpectNarrowKernels(const ir::Module& model) {
  const auto fused = RunPipeline(model, TestContext(), {.after = "FuseOps", .on_pass = nullptr});
  ASSERT_TRUE(fused.ok()) << fused.status();
  size_t kernels = 0;
  for (const ir::Expr& node : ir::PostOrder(fused->functions.at("main"))) {
    if (node->kind != ir::ExprKind::kCall || !node->callee) continue;
    ++kernels;
    EXPECT_LE(node->args.size(), kMostArguments);
  }
  EXPECT_GT(kernels, 1);
  EXPECT_EQ(InterpretOnRandom(*fused), InterpretOnRandom(model));
}

TEST(WideKernels, ManyPartsAreJoinedInSteps) {
  for (const size_t parts : {130, 500}) {
    std::vector<std::string> names;
    for (size_t i = 0; i < parts; ++i) names.push_back(fmt::format("%x{}", i));
    SCOPED_TRACE(parts);
    ExpectNarrowKernels(
        ModelOf(parts, fmt::format("concatenate(({}), axis=1)", fmt::join(names, ", "))));
  }
}

TEST(WideKernels, LongSumsAreKernelsOfSomeTermsEach) {
  constexpr size_t kTerms = 250;
  std::string body = "%0 = add(%x0, %x1);";
  for (size_t i = 2; i < kTerms; ++i) {
    body += fmt::format(" %{} = add(%{}, %x{});", i - 1, i - 2, i);
  }
  ExpectNarrowKernels(ModelOf(kTerms, fmt::format("{} nn.relu(%{})", body, kTerms - 2)));
}

}  // namespace
}  // namespace hone::passes
