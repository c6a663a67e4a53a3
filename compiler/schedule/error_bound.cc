#include "compiler/schedule/error_bound.h"

#include <algorithm>
#include <cmath>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/template.h"
#include "compiler/schedule/templates/conv_view.h"
#include "compiler/schedule/templates/filtered_rows.h"
#include "compiler/schedule/templates/templates.h"
#include "compiler/schedule/templates/winograd_space.h"

namespace hone::schedule {

namespace {

// How much larger than a direct sum's an algorithm's error is: its transforms add and take away
// multiples of the data that cancel. The bound of a direct sum below is that of all roundings in
// one direction; they are not, and so a share of the amplification is enough.
double Amplification(const Task& task, const Config& config) {
  if (!SpreadsRounding(config)) return 1;
  constexpr double kShare = 0.4;
  const bool depthwise = &TemplateFor(*task.def) == &DepthwiseConv2dTemplate();
  const double amplification = depthwise
                                   ? FilteredRowsAmplification(*task.def)
                                   : WinogradAmplification(ConvOf(task), config.String("strategy"));
  return std::max(1.0, kShare * amplification);
}

constexpr double kEpilogue = 16;

// Of products of matrices one behind the other: the sums that an element is made of.
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

// Of the sum that an element of the largest output is.
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

bool SpreadsRounding(const Config& config) {
  return config.Has("strategy") && IsWinograd(config.String("strategy"));
}

// Direct strategies only sum in another order: a sum of n terms, each rounded once, in any order is
// off by at most n * 2^-24 of sum |a||b| to first order; in practice far less, but a bound is not
// an estimate. Epilogues and transcendental functions add a few roundings of the result.
double ErrorBound(const Task& task, const Config& config) {
  return Amplification(task, config) * Terms(*task.def) + kEpilogue;
}

double DirectErrorBound(const ops::KernelDefinition& def) { return Terms(def) + kEpilogue; }

}  // namespace hone::schedule
