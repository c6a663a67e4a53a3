#include "compiler/schedule/error_bound.h"

#include <algorithm>
#include <cmath>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/kernel/kernel_view.h"

namespace hone::schedule {

namespace {

constexpr double kEpilogue = 16;

// The terms of the sums that an element is made of in products of matrices one behind the other.
double TermsOfProducts(const ops::KernelDefinition& def) {
  double terms = 0;
  for (const ops::OpStage& op : def.ops) {
    if (op.op != "nn.batch_matmul") continue;
    int64_t most = 1;
    for (const std::string& arg : op.args) {
      const loop::Buffer buffer = BufferOf(def.naive, arg);
      if (buffer != nullptr && !buffer->shape.empty()) most = std::max(most, buffer->shape.back());
    }
    terms += static_cast<double>(most);
  }
  return terms;
}

// The most terms of a sum that any stage takes: an element of a normalisation is made of few
// operations, but of all the sums of its row.
double TermsOfStages(const loop::Nest& nest) {
  double most = 0;
  for (const loop::Launch& launch : nest.launches) {
    const loop::Stmt stage = loop::InsideLoops(launch.body);
    if (stage->kind != loop::StmtKind::kSeq) continue;
    double terms = 1;
    loop::Stmt s = stage->body.back();
    for (; s->kind == loop::StmtKind::kFor; s = s->body[0]) {
      int64_t steps = 0;
      if (loop::IsConstInt(s->extent, &steps)) terms *= static_cast<double>(steps);
    }
    const bool adds = s->kind == loop::StmtKind::kStore &&
                      s->value->kind == loop::ExprKind::kBinary &&
                      s->value->binary_op == loop::BinaryOp::kAdd && loop::Accumulates(*s);
    if (adds) most = std::max(most, terms);
  }
  return most;
}

// The terms of the sum that an element of the largest output is.
double Terms(const ops::KernelDefinition& def) {
  double elements = 1;
  for (const loop::Buffer& buffer : def.naive.buffers) {
    if (buffer->role != loop::Role::kOutput) continue;
    double count = 1;
    for (int64_t extent : buffer->shape) count *= static_cast<double>(extent);
    elements = std::max(elements, count);
  }
  return std::max({1.0, def.flops / elements / 2, TermsOfProducts(def), TermsOfStages(def.naive)});
}

}  // namespace

// Direct strategies only sum in another order: a sum of n terms, each rounded once, in any order is
// off by at most n * 2^-24 of sum |a||b| to first order; in practice far less, but a bound is not
// an estimate. Epilogues and transcendental functions add a few roundings of the result.
// Transforms add and take away multiples of the data that cancel. The bound of a direct sum is that
// of all roundings in one direction; they are not, and so a share of the amplification is enough.
double ErrorBound(const ops::KernelDefinition& def, double amplification) {
  constexpr double kShare = 0.4;
  return std::max(1.0, kShare * amplification) * Terms(def) + kEpilogue;
}

}  // namespace hone::schedule
