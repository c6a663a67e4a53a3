// What `hone show` tells of the passes: what each made, and how long it took.
#ifndef HONE_CLI_PASS_TRACE_H_
#define HONE_CLI_PASS_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/expr.h"

namespace hone::cli {

struct PassStep {
  std::string name;  // "import" for the model itself: reading aside, inferring its types
  int64_t ns = 0;
  size_t nodes = 0;  // of main's graph; a kernel counts as one
  std::string text;  // empty where texts are not kept
};

class PassTrace {
 public:
  explicit PassTrace(bool keep_texts) : keep_texts_(keep_texts) {}

  void Add(const std::string& pass, const ir::Module& module, int64_t ns);

  // Every step's graph under a comment with its name and time.
  std::string Graphs() const;
  // A line a step, and their sum.
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
