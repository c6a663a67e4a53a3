// What the attention template sees of a kernel: scores = query x keys, a softmax over the keys,
// result = weights x values.
#ifndef HONE_COMPILER_SCHEDULE_ATTENTION_VIEW_H_
#define HONE_COMPILER_SCHEDULE_ATTENTION_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ops/lower.h"

namespace hone::schedule {

// Names are those of the naive nest's buffers.
struct AttentionView {
  std::string keys, values;                       // the right operands of the products
  bool moves_keys = false, moves_values = false;  // parameters, at most moved
  std::string scores;                             // the sums of the first product
  std::string logits;  // what the softmax reads: the scores, or what was made of them
  std::string max, exp, total, scale;  // stages of the softmax
  std::string weights;                 // the results of the softmax
  std::string sums;                    // the sums of the second product
  std::string output;
  std::vector<std::string> inlined;  // every other stage, in order
  int logits_rank = 0;               // its last axes are rows and keys
  int64_t heads = 0, rows = 0, key_count = 0;
  int64_t depth = 0;  // terms of a score
  int64_t units = 0;  // columns of the result
};

// nullopt unless the kernel is two nn.batch_matmul of float32 with an nn.softmax along the last
// axis between them, each read by the next alone: the scores through elementwise and broadcast
// operators and reshapes that keep rows and keys, the weights through such reshapes. The query must
// be a parameter whose elements are at most moved.
std::optional<AttentionView> ViewAttention(const ops::KernelDefinition& def);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_ATTENTION_VIEW_H_
