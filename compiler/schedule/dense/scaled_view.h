// What the template of products with narrow weights sees of a kernel.
#ifndef HONE_COMPILER_SCHEDULE_DENSE_SCALED_VIEW_H_
#define HONE_COMPILER_SCHEDULE_DENSE_SCALED_VIEW_H_

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/product/view.h"

namespace hone::schedule {

struct ScaledDense {
  Dense dense;                           // its view's anchor are the sums over blocks
  std::string of_blocks;                 // the sums within them
  std::vector<std::string> data_stages;  // that make something of the data alone, in order
  std::vector<std::string> data_sums;    // those that are sums, or other reductions, in each block
  std::vector<std::string> scales;       // and offsets
  int64_t block = 0;
  int64_t part = 0;        // terms of a row of the data that are looked at together: whole blocks
  int64_t word_terms = 1;  // of an element of the weight
  int64_t digits = 0;      // 0: products are of floats

  double WeightBytes() const { return word_terms > 1 ? 0.5 : 1; }
  // Steps of a sum that must go together: those of a word.
  int64_t StepsOfElement() const { return std::max<int64_t>(word_terms / dense.dot, 1); }
  // Sums of a result.
  int64_t Accumulators() const { return std::max<int64_t>(digits, 1); }
  // Operations that make a step's vector of weights of what was loaded, or load it.
  double UnpackOperations() const { return digits == 0 ? 2 : word_terms > 1 ? 1.5 : 0; }
};

// nullopt unless the kernel is an nn.scaled_dense of parameters, of two units at least, with
// elementwise and broadcast operators behind it. Without what the target says.
std::optional<ScaledDense> ViewScaledDense(const ops::KernelDefinition& def);
// All of it; the kernel is one.
ScaledDense ScaledDenseOf(const Task& task);
// As dense has it, with the registers that unpacking and digits leave.
RegisterTileProblem TileProblemOf(const ScaledDense& scaled);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_DENSE_SCALED_VIEW_H_
