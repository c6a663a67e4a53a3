#include "compiler/passes/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "compiler/ir/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/structural.h"
#include "compiler/passes/numerics.h"
#include "compiler/passes/rewriting.h"
#include "tests/compiler/passes/models.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

ir::Module Compile(const ir::Module& module, const PipelineOptions& options = {}) {
  const auto result = RunPipeline(module, TestContext(), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value();
}

// What the driver relies on; see compiler/driver.
void ExpectKernelsOnly(const ir::Module& module) {
  const Expr main = module.functions.at("main");
  std::set<const ir::ExprNode*> outputs;
  const Expr& body = ir::Body(*main);
  const std::vector<Expr> results = body->kind == ExprKind::kTuple ? body->args : std::vector{body};
  for (const Expr& result : results) {
    EXPECT_EQ(result->kind, ExprKind::kCall);
    EXPECT_TRUE(outputs.insert(result.get()).second) << "an output has a kernel of its own";
  }
  for (const Expr& node : ir::PostOrderOutside(body)) {
    if (node->kind != ExprKind::kCall) continue;
    ASSERT_TRUE(node->callee && IsPrimitive(node->callee)) << node->name;
    std::vector<int> operands;
    for (const Expr& arg : node->args) {
      ASSERT_FALSE(arg->type->is_tuple);
      const int rank = static_cast<int>(arg->type->tensor.shape.size());
      if (!IsConstant(arg)) operands.push_back(rank);
    }
    const auto text = ir::GetAttr<std::string>(node->callee->attrs, "signature", "none");
    const auto signature = ir::LayoutSignature::Parse(
        text, operands, {static_cast<int>(node->type->tensor.shape.size())});
    EXPECT_TRUE(signature.ok()) << signature.status();
    int ops = 0;
    for (const Expr& inner : ir::PostOrder(ir::Body(*node->callee))) {
      ops += inner->kind == ExprKind::kCall ? 1 : 0;
      EXPECT_FALSE(inner->kind == ExprKind::kConstant && !inner->type->tensor.shape.empty());
    }
    EXPECT_GE(ops, 1);
    EXPECT_LE(ops, 256);
  }
}

// Each value has the layout of its producer's signature; each kernel reads what it expects.
void ExpectLayoutsAgree(const ir::Module& module) {
  std::map<const ir::ExprNode*, std::string> layouts;
  const Expr body = ir::Body(*module.functions.at("main"));
  const auto layout_of = [&](const Expr& value) {
    const auto it = layouts.find(value.get());
    const int rank = static_cast<int>(value->type->tensor.shape.size());
    return it == layouts.end() ? AxisLetters(rank) : it->second;
  };
  for (const Expr& node : ir::PostOrderOutside(body)) {
    if (node->kind != ExprKind::kCall) continue;
    const auto text = ir::GetAttr<std::string>(node->callee->attrs, "signature", "none");
    std::string operands;
    for (const Expr& arg : node->args) {
      if (!IsConstant(arg)) operands += (operands.empty() ? "" : ",") + layout_of(arg);
    }
    ASSERT_EQ(text.substr(0, text.find("->")), operands);
    layouts[node.get()] = text.substr(text.find("->") + 2);
  }
  const std::vector<Expr> results = body->kind == ExprKind::kTuple ? body->args : std::vector{body};
  for (const Expr& result : results) {
    EXPECT_EQ(layout_of(result), AxisLetters(static_cast<int>(result->type->tensor.shape.size())));
  }
}

std::vector<std::string> KernelNames(const ir::Module& module) {
  std::vector<std::string> names;
  for (const Expr& node : ir::PostOrderOutside(ir::Body(*module.functions.at("main")))) {
    if (node->kind != ExprKind::kCall) continue;
    std::string name;
    for (const Expr& inner : ir::PostOrder(ir::Body(*node->callee))) {
      if (inner->kind == ExprKind::kCall) name += (name.empty() ? "" : "+") + inner->name;
    }
    names.push_back(name + " " + ir::GetAttr<std::string>(node->callee->attrs, "signature", ""));
  }
  return names;
}

TEST(Pipeline, ResidualNetsBecomeOneKernelPerConvolution) {
  Random random(1);
  const ir::Module module = Compile(ResidualNet(random, 2, 16, 32));
  ExpectKernelsOnly(module);
  ExpectLayoutsAgree(module);
  EXPECT_THAT(KernelNames(module),
              ::testing::ElementsAre(
                  "nn.conv2d+add+nn.relu NCHW->NCHW16c", "nn.max_pool2d NCHW16c->NCHW16c",
                  "nn.conv2d+add+nn.relu NCHW16c->NCHW16c",
                  "nn.conv2d+add+add+nn.relu NCHW16c,NCHW16c->NCHW16c",
                  "nn.conv2d+add+nn.relu NCHW16c->NCHW16c", "nn.conv2d+add NCHW16c->NCHW16c",
                  "nn.conv2d+add+add+nn.relu NCHW16c,NCHW16c->NCHW16c",
                  "nn.global_avg_pool2d NCHW16c->NCHW16c", "layout_transform NCHW16c->NCHW",
                  "nn.batch_flatten NCHW->NC", "nn.dense+add NC->NC", "nn.softmax NC->NC"));
}

// As a convolution does; one along other axes stays alone.
TEST(Pipeline, NormalisationsAlongTheLastAxesTakeWhatFollows) {
  const auto names = [](const std::string& axes) {
    return KernelNames(Compile(
        Typed("def @main(%x: Tensor[(1, 4, 6, 8), float32], %g: Tensor[(4, 1, 1), float32]) { "
              "nn.relu(multiply(nn.layer_norm(%x, axis=" +
              axes + "), %g)) }")));
  };
  EXPECT_THAT(names("[2, 3]"),
              ::testing::ElementsAre("nn.layer_norm+multiply+nn.relu NCHW,NCW->NCHW"));
  EXPECT_THAT(names("[1]"), ::testing::ElementsAre("nn.layer_norm NCHW->NCHW",
                                                   "multiply+nn.relu NCHW,NCW->NCHW"));
}

TEST(Pipeline, RandomNetsEndAsKernelsThatFitTogether) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const ir::Module module = Compile(RandomNet(random, 3 + static_cast<int>(seed % 40)));
    ExpectKernelsOnly(module);
    ExpectLayoutsAgree(module);
    if (::testing::Test::HasFailure()) FAIL() << seed << "\n" << ir::ToText(module, {false});
  }
}

// Some signatures, by their text, are measured, at any time.
PassContext MeasuredContext(uint64_t seed) {
  PassContext context = TestContext();
  context.layout_aim = seed % 2 == 0 ? LayoutAim::kSettled : LayoutAim::kExplore;
  context.measured = [seed](const Expr& function, const std::vector<bool>&,
                            const std::vector<ir::LayoutSignature>& signatures,
                            const Target&) -> absl::StatusOr<std::vector<std::optional<double>>> {
    std::vector<std::optional<double>> times;
    for (const ir::LayoutSignature& signature : signatures) {
      Random random(seed ^ std::hash<std::string>()(ir::ToText(function) + signature.ToString()));
      const double ns = std::exp2(6 + 8 * random.Uniform());
      times.push_back(random.Below(2) == 0 ? std::optional(ns) : std::nullopt);
    }
    return times;
  };
  return context;
}

TEST(Pipeline, KernelsFitTogetherWhateverWasMeasured) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const ir::Module model = RandomNet(random, 3 + static_cast<int>(seed % 40));
    const auto module = RunPipeline(model, MeasuredContext(seed));
    ASSERT_TRUE(module.ok()) << module.status();
    ExpectKernelsOnly(*module);
    ExpectLayoutsAgree(*module);
    if (::testing::Test::HasFailure()) FAIL() << seed << "\n" << ir::ToText(*module, {false});
  }
}

TEST(Pipeline, AllThatTimesAreAskedOfIsAnnouncedAtOnceBefore) {
  std::set<std::string> announced;
  int times = 0;
  PassContext context = TestContext();
  context.expect = [&](const std::string&, const std::vector<KernelLayouts>& kernels) {
    ++times;
    for (const KernelLayouts& kernel : kernels) {
      for (const ir::LayoutSignature& signature : kernel.signatures) {
        announced.insert(ir::ToText(kernel.function) + signature.ToString());
      }
    }
    return absl::OkStatus();
  };
  context.measured = [&](const Expr& function, const std::vector<bool>&,
                         const std::vector<ir::LayoutSignature>& signatures,
                         const Target&) -> absl::StatusOr<std::vector<std::optional<double>>> {
    for (const ir::LayoutSignature& signature : signatures) {
      EXPECT_TRUE(announced.contains(ir::ToText(function) + signature.ToString()))
          << ir::ToText(function) << signature.ToString();
    }
    return std::vector<std::optional<double>>(signatures.size());
  };
  Random random(5);
  ASSERT_TRUE(RunPipeline(ResidualNet(random, 2, 16, 32), context).ok());
  EXPECT_EQ(times, 1);
  context.expect = [](auto&&...) { return absl::UnavailableError("nobody is there"); };
  EXPECT_TRUE(absl::IsUnavailable(RunPipeline(ResidualNet(random, 1, 16, 32), context).status()));
}

TEST(Pipeline, WhatKeepsTimesFromBeingReadIsTheError) {
  Random random(1);
  PassContext context = TestContext();
  context.measured = [](auto&&...) { return absl::UnavailableError("the database is locked"); };
  EXPECT_EQ(RunPipeline(ResidualNet(random, 1, 16, 32), context).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(Pipeline, EveryStepPrintsAndParsesBack) {
  Random random(3);
  PipelineOptions options;
  std::vector<std::string> steps;
  options.on_pass = [&](const std::string& pass, const ir::Module& module, int64_t) {
    steps.push_back(pass);
    const auto parsed = ir::ParseModule(ir::ToText(module));
    ASSERT_TRUE(parsed.ok()) << pass << parsed.status();
    EXPECT_TRUE(ir::StructuralEqual(*parsed, module)) << pass;
  };
  Compile(ResidualNet(random, 2, 16, 32), options);
  EXPECT_EQ(steps.size(), PassNames().size() + 1);
}

TEST(Pipeline, EndsAfterThePassAskedFor) {
  Random random(3);
  const ir::Module model = ResidualNet(random, 1, 16, 32);
  PipelineOptions options{.after = "SimplifyInference", .on_pass = nullptr};
  std::string last;
  options.on_pass = [&](const std::string& pass, const ir::Module&, int64_t) { last = pass; };
  Compile(model, options);
  EXPECT_EQ(last, "SimplifyInference");
  options.after = "Simplify";
  EXPECT_THAT(std::string(RunPipeline(model, TestContext(), options).status().message()),
              ::testing::HasSubstr("unknown pass 'Simplify'; known: import InlineFunctions"));
}

TEST(Pipeline, DamagedModelsAreErrorsOrModels) {
  Random random(9);
  const std::string text = ir::ToText(ResidualNet(random, 1, 2, 4)) +
                           "def @f(%x: float32) -> float32 { if (true) { @f(%x) } else { %x } }";
  for (int i = 0; i < 1500; ++i) {
    std::string damaged = text;
    for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
      const size_t at = random.Below(damaged.size());
      switch (random.Below(3)) {
        case 0:
          damaged[at] = "0123456789-()[],%.\"aefx"[random.Below(23)];
          break;
        case 1:
          damaged.erase(at, 1 + random.Below(8));
          break;
        default:
          damaged.insert(at, damaged.substr(random.Below(damaged.size()), random.Below(12)));
      }
    }
    const auto module = ir::ParseModule(damaged);
    if (!module.ok() || !module->functions.contains("main")) continue;
    const auto result = RunPipeline(*module, TestContext());
    EXPECT_NE(result.status().code(), absl::StatusCode::kInternal) << damaged;
  }
}

TEST(Pipeline, FunctionsThatDoubleAndDoubleAreRefused) {
  std::string text = "def @f0(%x: float32) -> float32 { nn.relu(%x) }\n";
  for (int i = 1; i < 40; ++i) {
    text += "def @f" + std::to_string(i) + "(%x: float32) -> float32 { add(@f" +
            std::to_string(i - 1) + "(%x), @f" + std::to_string(i - 1) + "(%x)) }\n";
  }
  text += "def @main(%x: float32) { @f39(%x) }";
  const auto result = RunPipeline(Typed(text), TestContext());
  EXPECT_THAT(std::string(result.status().message()), ::testing::HasSubstr("at most 200000"));
}

std::string PipelineError(const std::string& text) {
  return std::string(RunPipeline(Typed(text), TestContext()).status().message());
}

TEST(Pipeline, WhatHasNoFixedSequenceOfKernelsIsRefusedByName) {
  EXPECT_THAT(PipelineError("def @main(%x: float32) -> float32 { @f(%x) } "
                            "def @f(%x: float32) -> float32 { @main(%x) }"),
              ::testing::HasSubstr("found that @main does"));
  EXPECT_THAT(PipelineError("def @main(%f: fn (float32) -> float32) { %f(1f32) }"),
              ::testing::HasSubstr("expected @main to take and give tensors"));
  EXPECT_THAT(PipelineError("def @main(%x: float32) { fn (%y: float32) { add(%x, %y) } }"),
              ::testing::HasSubstr("expected @main to take and give tensors"));
  std::string chain = "def @f0(%x: float32) -> float32 { nn.relu(%x) }\n";
  for (int i = 1; i < 5000; ++i) {
    chain += "def @f" + std::to_string(i) + "(%x: float32) -> float32 { @f" +
             std::to_string(i - 1) + "(%x) }\n";
  }
  EXPECT_THAT(PipelineError(chain + "def @main(%x: float32) { @f4999(%x) }"),
              ::testing::HasSubstr("at most 200 deep"));
}

TEST(Pipeline, BranchesTuplesAndFunctionValuesEndAsKernels) {
  const ir::Module module = Compile(Typed(
      "def @main(%c: bool, %x: (Tensor[(4), float32], Tensor[(4), float32])) {"
      "  let %f: fn (Tensor[(4), float32]) -> Tensor[(4), float32] = if (%c) { @f } else { @g };"
      "  (%f(%x.0), (%f(%x.1), if (true) { %x.0 } else { %x.1 }))"
      "}"
      "def @f(%x: Tensor[(4), float32]) { exp(%x) }"
      "def @g(%x: Tensor[(4), float32]) { nn.relu(%x) }"));
  ExpectKernelsOnly(module);
  const Expr& main = module.functions.at("main");
  EXPECT_EQ(ir::Params(*main).size(), 3u);
  EXPECT_EQ(ir::Body(*main)->args.size(), 3u);
  EXPECT_THAT(KernelNames(module),
              ::testing::UnorderedElementsAre("exp+nn.relu+where C,->C", "exp+nn.relu+where C,->C",
                                              "copy C->C"));
}

TEST(Pipeline, OperandsOfAResidualAddMayStandEitherWay) {
  const auto names_of = [](const char* add) {
    return KernelNames(Compile(Typed(
        std::string("def @main(%x: Tensor[(1, 16, 8, 8), float32], "
                    "%w: Tensor[(16, 16, 1, 1), float32]) { %0 = nn.conv2d(%x, %w); nn.relu(") +
        add + ") }")));
  };
  const std::vector<std::string> names = names_of("add(%0, %x)");
  EXPECT_EQ(names[0].substr(0, names[0].find(' ')), "nn.conv2d+add+nn.relu");
  EXPECT_EQ(names, names_of("add(%x, %0)"));
}

// The numerics of main's kernels.
std::vector<std::string> KernelNumerics(const ir::Module& module) {
  std::vector<std::string> all;
  for (const Expr& node : ir::PostOrder(ir::Body(*module.functions.at("main")))) {
    if (node->kind != ExprKind::kCall || !node->callee) continue;
    if (ir::IsCall(ir::Body(*node->callee), "layout_transform")) continue;  // rounds nothing
    all.push_back(ir::GetAttr<std::string>(node->callee->attrs, "numerics", "default"));
  }
  return all;
}

TEST(Pipeline, KernelsRoundAsTheFunctionTheyComeFromMay) {
  const ir::Module module =
      Compile(Typed("def @main(%x: Tensor[(1, 16, 8, 8), float32], %w: Tensor[(16, 16, 1, 1), "
                    "float32], numerics=\"strict\") { nn.relu(nn.conv2d(%x, %w)) }"));
  EXPECT_THAT(KernelNumerics(module), ::testing::ElementsAre("strict"));
}

// main, with these attributes, calls @middle, which calls @inner; each a product.
ir::Module NestedCalls(const std::string& main, const std::string& middle,
                       const std::string& inner) {
  const std::string params = "(%x: Tensor[(4, 4), float32]";
  return Typed("def @inner" + params + inner + ") { nn.dense(%x, %x) }\n" +  //
               "def @middle" + params + middle + ") { nn.dense(@inner(%x), %x) }\n" + "def @main" +
               params + main + ") { nn.dense(@middle(%x), %x) }");
}

TEST(Pipeline, WhatACalledFunctionSaysOfRoundingHoldsWhereItIsInlined) {
  const auto of = [](const ir::Module& module) {
    const std::vector<std::string> all = KernelNumerics(Compile(module));
    EXPECT_EQ(all.size(), 3U);
    return std::set<std::string>(all.begin(), all.end());
  };
  const std::string strict = ", numerics=\"strict\"";
  const std::string fast = ", numerics=\"fast\"";
  using Only = std::set<std::string>;
  EXPECT_EQ(of(NestedCalls("", "", "")), Only{"default"});
  EXPECT_EQ(of(NestedCalls("", "", strict)), Only{"strict"});
  EXPECT_EQ(of(NestedCalls(fast, strict, "")), Only{"strict"});
  EXPECT_EQ(of(NestedCalls(strict, fast, fast)), Only{"strict"});
  EXPECT_EQ(of(NestedCalls(fast, "", "")), Only{"fast"});     // what says nothing is as its caller
  EXPECT_EQ(of(NestedCalls("", fast, "")), Only{"default"});  // none is looser for what it calls
}

TEST(Pipeline, WhatIsSaidOfAWholeModelHoldsForItsFunctions) {
  const std::string strict = ", numerics=\"strict\"";
  for (const char* numerics : {"strict", "default", "fast"}) {
    const ir::Module module = WithNumerics(NestedCalls(strict, strict, strict), numerics);
    for (const std::string& found : KernelNumerics(Compile(module))) EXPECT_EQ(found, numerics);
  }
}

TEST(Pipeline, WithoutTemplatesEverythingIsRowMajor) {
  Random random(4);
  PassContext context = TestContext();
  context.signatures = nullptr;
  context.evaluator = nullptr;
  const auto module = RunPipeline(ResidualNet(random, 2, 16, 32), context);
  ASSERT_TRUE(module.ok()) << module.status();
  ExpectKernelsOnly(*module);
  for (const std::string& name : KernelNames(*module))
    EXPECT_EQ(name.find("16c"), std::string::npos);
}

}  // namespace
}  // namespace hone::passes
