#include <algorithm>
#include <cmath>

#include "compiler/schedule/template.h"

namespace hone::schedule {

namespace {

// How much larger than a direct sum's an algorithm's error is: its transforms add and take away
// multiples of the data that cancel.
double Amplification(const Config& config) {
  if (!config.Has("strategy")) return 1;
  return config.String("strategy") == "winograd4" ? 4 : 1;
}

}  // namespace

// Direct strategies only sum in another order: a sum of n terms, each rounded once, in any order is
// off by at most n * 2^-24 of sum |a||b| to first order; in practice far less, but a bound is not
// an estimate. Epilogues and transcendental functions add a few roundings of the result.
double ErrorBound(const Task& task, const Config& config) {
  constexpr double kEpilogue = 16;
  double elements = 1;
  for (const loop::Buffer& buffer : task.def->naive.buffers) {
    if (buffer->role != loop::Role::kOutput) continue;
    double count = 1;
    for (int64_t extent : buffer->shape) count *= static_cast<double>(extent);
    elements = std::max(elements, count);
  }
  const double terms = std::max(1.0, task.def->flops / elements / 2);
  return Amplification(config) * terms + kEpilogue;
}

}  // namespace hone::schedule
