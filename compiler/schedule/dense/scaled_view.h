// What the template of products with narrow weights (nn.scaled_dense) sees of a kernel.
#ifndef HONE_COMPILER_SCHEDULE_DENSE_SCALED_VIEW_H_
#define HONE_COMPILER_SCHEDULE_DENSE_SCALED_VIEW_H_

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/product/view.h"

namespace hone::schedule {

struct ScaledDense {
  Dense dense;                           // the anchor of its view is the sums over blocks
  std::string of_blocks;                 // the stage of the sums within blocks
  std::vector<std::string> data_stages;  // before the product, from the data alone; in order
  std::vector<std::string> data_sums;    // those of them that reduce within blocks
  std::vector<std::string> scales;       // the operands with scales and offsets
  int64_t block = 0;                     // terms of a block
  int64_t part = 0;        // terms of a row of the data that are looked at together: whole blocks
  int64_t word_terms = 1;  // in an element of the weight
  // Elements of the data are rounded to so many digits of 8 bits (ops/scaled_dense.cc), each of
  // which is multiplied on its own in int32; 0: products are of floats.
  int64_t digits = 0;

  // Bytes of the weight for a term.
  double WeightBytes() const { return word_terms > 1 ? 0.5 : 1; }
  // The steps of a sum that must be taken together, since they read the same word of the weight.
  int64_t StepsOfElement() const { return std::max<int64_t>(word_terms / dense.dot, 1); }
  // How many sums a result has.
  int64_t Accumulators() const { return std::max<int64_t>(digits, 1); }
  // How many operations load a step's vector of weights, or unpack it from what was loaded.
  double UnpackOperations() const { return digits == 0 ? 2 : word_terms > 1 ? 1.5 : 0; }
};

// nullopt unless the kernel is an nn.scaled_dense of parameters, of two units at least, with
// elementwise and broadcast operators behind it. What depends on the target is not set.
std::optional<ScaledDense> ViewScaledDense(const ops::KernelDefinition& def);
// The whole view; the kernel of the task must be such a product.
ScaledDense ScaledDenseOf(const Task& task);
// The problem that dense would have, with the registers that unpacking and digits leave.
RegisterTileProblem TileProblemOf(const ScaledDense& scaled);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_DENSE_SCALED_VIEW_H_
