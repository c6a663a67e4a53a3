// Models for tests of passes.
#ifndef HONE_TESTS_COMPILER_PASSES_MODELS_H_
#define HONE_TESTS_COMPILER_PASSES_MODELS_H_

#include <string>

#include "compiler/ir/expr.h"
#include "compiler/passes/pass.h"
#include "support/random.h"

namespace hone::passes {

// Text to a module with types; fails the test where it has mistakes.
ir::Module Typed(const std::string& text);

// A float32 constant of small seeded values.
ir::Expr RandomConstant(Random& random, std::vector<int64_t> shape);

// A residual network in ResNet's manner, with batch norms and weights; `blocks` residual blocks.
ir::Module ResidualNet(Random& random, int blocks, int64_t channels, int64_t size);

// Random well-typed network of convolutions, pools, elementwise operators, concatenations.
ir::Module RandomNet(Random& random, int nodes);

// Runs main on constants, operator by operator: its outputs.
std::vector<ir::Expr> InterpretMain(const ir::Module& module, const std::vector<ir::Expr>& inputs);
// The same on random inputs of its parameters' shapes, equal for equal shapes: float32 outputs.
std::vector<std::vector<float>> InterpretOnRandom(const ir::Module& module);

// An evaluator for tests of what folding does to graphs: float32 add, multiply, negative, rsqrt,
// reshape.
Evaluator TestEvaluator();

// For cascadelake (16 lanes), with TestEvaluator and the signatures below.
PassContext TestContext();

// After CanonicalizeOps alone.
ir::Module Canonical(const ir::Module& module);

// As templates answer: convolutions NCHW16c (NCHW where the input has few channels), elementwise
// kernels in either layout, pools to 1x1 also from blocked to row-major.
std::vector<ir::LayoutSignature> TestSignatures(const ir::Expr& function,
                                                const std::vector<bool>& const_params,
                                                const Target& target);

// Compares with tests/compiler/passes/golden/NAME; HONE_UPDATE_GOLDEN=1 writes it instead.
void ExpectGolden(const std::string& name, const std::string& text);

}  // namespace hone::passes

#endif  // HONE_TESTS_COMPILER_PASSES_MODELS_H_
