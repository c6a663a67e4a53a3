// Collects, for `hone show`, what each pass made and how long it took.
#ifndef HONE_CLI_PASS_TRACE_H_
#define HONE_CLI_PASS_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::cli {

struct PassStep {
  // A pass, or "import" for the model as it was read; its time is that of inferring its types.
  std::string name;
  int64_t ns = 0;
  size_t nodes = 0;  // of main's graph; a kernel counts as one
  std::string text;  // empty where texts are not kept
};

class PassTrace {
 public:
  explicit PassTrace(bool keep_texts) : keep_texts_(keep_texts) {}

  void Add(const std::string& pass, const ir::Module& module, int64_t ns);

  // The graph after each step, under a comment with the step's name and time.
  std::string Graphs() const;
  // A line for each step, and one for their sum.
  std::string Table() const;
  // {"schema": 1, "total_ms": ..., "passes": [{"name", "ms", "nodes"}]}
  std::string Json() const;

 private:
  int64_t TotalNs() const;

  const bool keep_texts_;
  std::vector<PassStep> steps_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_PASS_TRACE_H_
